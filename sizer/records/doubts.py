"""What may let the runs of a workload fail, known before they are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DoubtKind(Enum):
    """Why runs may end as `unsupported` or `crashed`."""

    FRAMEWORK = "framework"
    GPU = "gpu"
    NO_DRIVER = "no_driver"
    HIDDEN_GPU = "hidden_gpu"
    PROGRAM = "program"
    SETUP = "setup"
    BEFORE = "before"
    NO_FOLDER = "no_folder"
    NOT_PASSED = "not_passed"


@dataclass(frozen=True)
class Doubt:
    """`what` is the framework, the GPU's index, the program (of a command, of its `setup` or its `before`) or the
    variable of `pass_env` that is not there; or a file that the command names, which lies in the folder `where` while
    no `cwd` is given. A GPU that is there and not shown to the workload is hidden by CUDA_VISIBLE_DEVICES, whose value
    `where` is."""

    kind: DoubtKind
    workload: str
    what: str
    where: str = ""
