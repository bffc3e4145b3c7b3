"""Tests of the commands beside a run."""
