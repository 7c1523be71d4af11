"""What may let the runs of a workload fail, known before they are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DoubtKind(Enum):
    """Why runs may end as `unsupported` or `crashed`."""

    FRAMEWORK = "framework"
    GPU = "gpu"
    PROGRAM = "program"


@dataclass(frozen=True)
class Doubt:
    """`what` is the framework, the GPU's index or the program that is not there."""

    kind: DoubtKind
    workload: str
    what: str
