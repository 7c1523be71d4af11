"""A number of things in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """`1 thread`, `2 threads`: for names whose plural ends in s."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
