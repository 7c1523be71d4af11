"""What to measure: a study file in YAML becomes a Study with every default filled in, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.study.json_schema import schema, template
    from sizer.study.own_job import Axes, OwnJob, own_job_text
    from sizer.study.parse import parse_study, read_stored_study, read_study
    from sizer.study.presets import SMALLEST_VCPUS, HostSize, recorded_size
    from sizer.study.resolved import to_yaml
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "SMALLEST_VCPUS",
    "Axes",
    "HostSize",
    "OwnJob",
    "own_job_text",
    "parse_study",
    "read_stored_study",
    "read_study",
    "recorded_size",
    "schema",
    "template",
    "to_yaml",
]
