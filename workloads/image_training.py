"""Image training: forward, backward and update by SGD with momentum, on images cropped and mirrored at random."""

from __future__ import annotations

from .faults import run_program
from .image_program import run


def main() -> None:
    """Run the program."""
    run("image_training", "Train an image network: forward, backward, update by SGD with momentum.", training=True)


if __name__ == "__main__":
    raise SystemExit(run_program("image_training", main))
