"""The page's style and script, and the policy under which they, and nothing else, are used and run.

It needs no more than the files beside the templates, so whoever serves a page knows its policy without drawing one.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
SHARED = ("page", "charts", "model")
"""Whose styles and scripts every section may use."""


def style() -> str:
    """All of the page's."""
    return _joined("css")


def script() -> str:
    """All of the page's."""
    return _joined("js")


def page_policy(styles: tuple[str, ...] = (), scripts: tuple[str, ...] = ()) -> str:
    """A Content-Security-Policy for the page, with these further styles and scripts in it."""
    style_digests = " ".join(map(_digest, (style(), *styles)))
    script_digests = " ".join(map(_digest, (script(), *scripts)))
    return f"default-src 'none'; style-src {style_digests}; script-src {script_digests}"


def _joined(form: str) -> str:
    """What all share, then each section's own."""
    shared = [TEMPLATES / f"{name}.{form}" for name in SHARED]
    own = sorted(set(TEMPLATES.glob(f"*.{form}")) - set(shared))
    return "\n".join(path.read_text(encoding="utf-8") for path in (*shared, *own) if path.is_file())


def _digest(text: str) -> str:
    """By which a policy knows a style or a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
