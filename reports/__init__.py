"""Records -> plain dicts -> one self-contained HTML page."""

from __future__ import annotations

from .material import Material, Progress
from .page import compile_templates, render, write_report

__all__ = ["Material", "Progress", "compile_templates", "render", "write_report"]
