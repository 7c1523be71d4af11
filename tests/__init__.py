"""Where the checkout is that the tests are about."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
