"""Records -> plain dicts -> one self-contained HTML page."""
