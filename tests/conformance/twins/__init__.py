"""Cases of one idea on the wires of three dialects."""
