"""A command in each file: its arguments, and what it prints of what `sizer.api` does."""
