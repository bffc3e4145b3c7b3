"""Adapters that are broken in exactly one way, for tests of the kit."""
