"""The programs that are measured: each its own process, useful by itself, and unaware of who measures it."""
