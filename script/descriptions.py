"""What the study file's schema says of its values, for `script/words`: errors quote these descriptions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import IO, Any

Found = tuple[int, None, str, list[str]]
"""Line, no keyword, message and no comments, as Babel wants them."""


def extract(
    file: IO[bytes],
    keywords: Collection[str],  # noqa: ARG001  (Babel calls it so)
    comment_tags: Collection[str],  # noqa: ARG001
    options: dict[str, Any],  # noqa: ARG001
) -> Iterator[Found]:
    """Every description, in its order."""
    yield from ((1, None, text, []) for text in _descriptions(json.load(file)))


def _descriptions(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:
            yield from _descriptions(item)
    elif isinstance(part, dict):
        if isinstance(part.get("description"), str):
            yield part["description"]
        for item in part.values():
            yield from _descriptions(item)
