"""The commands of ``dsh-conformance``, one module each; ``cli`` puts them together."""
