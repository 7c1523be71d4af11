"""Frameworks behind one interface: `interface.py` is what a program asks of one, and each has its own files here."""
