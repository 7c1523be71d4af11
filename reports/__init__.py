"""Records -> plain dicts -> one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from .material import Material, Progress
    from .page import compile_templates, render, write_report
    from .policy import page_policy
else:
    __getattr__ = exports(__name__, __file__)

__all__ = ["Material", "Progress", "compile_templates", "page_policy", "render", "write_report"]
