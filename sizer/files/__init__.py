"""Files that are read and written safely: whole or not at all, and never through what a stranger put there."""
