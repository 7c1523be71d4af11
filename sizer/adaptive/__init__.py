"""Pure: a Study, its runs so far and what they say become the one next run, or the reason to stop."""
