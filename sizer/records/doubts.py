"""What may let the runs of a workload fail, known before they are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.messages import Message


class DoubtKind(Enum):
    """Why runs may end as `unsupported`, `crashed` or `refused`; NO_NVML: why nothing will be known of their GPUs."""

    USER = "user"
    FRAMEWORK = "framework"
    INTERPRETER = "interpreter"
    GPU = "gpu"
    NO_DRIVER = "no_driver"
    NO_NVML = "no_nvml"
    HIDDEN_GPU = "hidden_gpu"
    UNSEEN_GPU = "unseen_gpu"
    PROGRAM = "program"
    SETUP = "setup"
    BEFORE = "before"
    NO_FOLDER = "no_folder"
    NOT_PASSED = "not_passed"


@dataclass(frozen=True)
class Doubt:
    """`what` is the user that `run_as` names and runs cannot be made as, the framework, the GPU's index, the program
    (of a command, of its `setup` or its `before`) or the variable of `pass_env` that is not there; or a file that the
    command names, which lies in the folder `where` while no `cwd` is given; or the framework whose interpreter cannot
    run it. Of a user and of an interpreter `problem` says why, with what to type. A GPU that is there and not shown to
    the workload is hidden by CUDA_VISIBLE_DEVICES, whose value `where` is, or not seen by its framework, whose
    interpreter `where` is.

    All but the doubts of a user and of a framework are of one workload.
    """

    kind: DoubtKind
    workloads: tuple[str, ...]
    what: str
    where: str = ""
    problem: Message | None = None
