"""schema: the study file's JSON Schema."""

from __future__ import annotations

import argparse
import json

from sizer.study.json_schema import schema as study_schema


def arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(_: argparse.Namespace) -> int:
    print(json.dumps(study_schema(), indent=2))
    return 0
