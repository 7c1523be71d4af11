"""The commented study file that `sizer init` writes."""

from __future__ import annotations

from importlib import resources


def template() -> str:
    """A study file that is valid as it is and says in comments what else it may hold."""
    return resources.files(__package__).joinpath("template.yaml").read_text("utf-8")
