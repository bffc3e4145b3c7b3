"""The kit judged by adapters whose faults are known: mutants, good adapters and null adapters."""
