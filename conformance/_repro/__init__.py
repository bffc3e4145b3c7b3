"""``repro``: one check of a report again, in place or as a test to keep."""
