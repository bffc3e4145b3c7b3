"""``record``: a reverse proxy that keeps what a server really said, byte for byte."""
