"""``doctor``: what a machine or a target lacks, before a run is tried."""
