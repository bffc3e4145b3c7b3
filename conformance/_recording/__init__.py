"""What ``record`` kept: its file, its parts, and the exchange that plays it again."""
