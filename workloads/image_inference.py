"""Image inference: forward only, on the centre crop of images in their order; reports the latency of a batch."""

from __future__ import annotations

from .faults import run_program
from .image_training import run


def main() -> None:
    """Run the program."""
    run("image_inference", "Classify images: forward only, centre crop; prints the latency of a batch.", training=False)


if __name__ == "__main__":
    raise SystemExit(run_program("image_inference", main))
