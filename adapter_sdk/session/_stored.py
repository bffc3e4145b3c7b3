"""Read a stored object field by field; what is missing, of another type or left over is named."""

from __future__ import annotations

from typing import Any


class StoredFormError(ValueError):
    """A stored value that does not have its form; the message begins with the field's name."""


class Fields:
    """The fields of one stored object, each read once.

    Raises:
        StoredFormError: It is no object.
    """

    __slots__ = ("_fields", "_name", "_read_keys")

    def __init__(self, value: object, name: str) -> None:
        if not isinstance(value, dict):
            raise StoredFormError(f"{name}: an object, got {type(value).__name__}")
        self._fields: dict[str, Any] = value
        self._name = name
        self._read_keys: list[str] = []

    def _read(self, key: str) -> Any:
        self._read_keys.append(key)
        try:
            return self._fields[key]
        except KeyError:
            raise StoredFormError(f"{self._name}.{key}: missing") from None

    def _refuse(self, key: str, rule: str) -> StoredFormError:
        return StoredFormError(f"{self._name}.{key}: {rule}")

    def text(self, key: str) -> str:
        """Return a string."""
        value = self._read(key)
        if type(value) is not str:
            raise self._refuse(key, "a string")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a string, or None where the field is absent."""
        return self.text(key) if key in self._fields else None

    def count(self, key: str) -> int:
        """Return a whole number of 0 or more."""
        value = self._read(key)
        if type(value) is not int or value < 0:
            raise self._refuse(key, "a whole number of 0 or more")
        return value

    def optional_count(self, key: str) -> int | None:
        """Return a whole number of 0 or more, or None where the field is absent."""
        return self.count(key) if key in self._fields else None

    def optional_flag(self, key: str) -> bool:
        """Return True or False; False where the field is absent."""
        value = self._read(key) if key in self._fields else False
        if type(value) is not bool:
            raise self._refuse(key, "true or false")
        return value

    def array(self, key: str) -> list[Any]:
        """Return a list."""
        value = self._read(key)
        if not isinstance(value, list):
            raise self._refuse(key, "a list")
        return value

    def object(self, key: str) -> dict[str, Any]:
        """Return an object."""
        value = self._read(key)
        if not isinstance(value, dict):
            raise self._refuse(key, "an object")
        return value

    def optional_object(self, key: str) -> dict[str, Any] | None:
        """Return an object, or None where the field is absent."""
        return self.object(key) if key in self._fields else None

    def end(self) -> None:
        """Refuse fields that nobody has read."""
        if len(self._read_keys) < len(self._fields):
            unread = sorted(self._fields.keys() - set(self._read_keys))
            raise StoredFormError(f"{self._name}: unknown fields {', '.join(unread)}")
