"""``exec:COMMAND``: an adapter in any language, over standard streams."""
