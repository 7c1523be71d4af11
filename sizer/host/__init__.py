"""Facts about this machine, and what it lets us control."""
