"""The name that language training had when LSTMs were all that it trained; study files and commands still use it."""

from __future__ import annotations

from .faults import run_program
from .language_training import run


def main() -> None:
    """Run the program."""
    run("lstm_training")


if __name__ == "__main__":
    raise SystemExit(run_program("lstm_training", main))
