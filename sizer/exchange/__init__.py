"""Tables and JSON, in and out: measurements made elsewhere, and what other programs read."""
