"""Adapters that are judged over their standard streams."""
