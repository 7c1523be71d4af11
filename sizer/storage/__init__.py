"""Data sets and disks: provided, checked, and removed again."""
