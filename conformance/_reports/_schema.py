"""The JSON schema of the report, published beside the requirement catalogue."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from ._model import SCHEMA_VERSION, Report

FILE: Final = "report.schema.json"


def schema_text() -> str:
    """Return the schema as it is published: JSON Schema 2020-12."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dsh-conformance:report:{SCHEMA_VERSION}",
        **Report.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def published_schema() -> str:
    """Return the published file's text."""
    return (files("conformance") / FILE).read_text(encoding="utf-8")
