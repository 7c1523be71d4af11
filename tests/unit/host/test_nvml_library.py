"""What sizer makes of NVIDIA's libraries, through nvidia-ml-py itself: the libraries are doubles, no GPU is judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.unit.host.test_cuda_devices import LIBRARY

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to make the libraries with")

ASKS = """
import json, os
from sizer.api.preconditions import doubts_of_gpu
from sizer.host.gpus import visible_gpus
from sizer.host.gpu_watch import GpuWatch
from sizer.host.gpus import gpus, has_driver, session
from sizer.records.device import Device
from sizer.records.study import Workload
from sizer.words.terminal import doubt_in_words

job = Workload("job", "command", command=("train",), device=Device("cuda", 0))
found = {"driver": has_driver(), "doubts": [doubt_in_words(doubt) for doubt in doubts_of_gpu(job)]}
with session() as ready:
    if ready:
        watch = GpuWatch(visible_gpus(gpus(), os.environ))
        watch.read()
        watch.tell_own(lambda pid: pid == os.getpid())
        watch.read()
        watch.read()
        found |= vars(watch.gpus[0]) | vars(watch.latest[0])
        found["others"] = ["parent" if each.endswith(f"(pid {os.getppid()})") else each for each in found["others"]]
print(json.dumps(found))
"""
NOTHING = dict.fromkeys(("busy", "watts", "sm_hertz", "joules", "sent_bytes", "held_back"))
A100 = "NVIDIA A100-SXM4-40GB"

CASES: dict[str, dict[str, Any]] = {
    "usual": {"name": A100, "watts": 400.0, "sm_hertz": 1.095e9, "held_back": ["power_cap"], "others": []},
    "hot": {"held_back": ["thermal"]},
    "second_process": {"own_memory_bytes": 1 << 29, "others": ["parent"]},
    "newer_driver": {"held_back": ["power_cap"], "sent_bytes": 0, "memory_bytes": 1 << 30, "others": []},
    "mig": {**NOTHING, "name": f"{A100} MIG 1g.5gb", "memory_bytes": 1 << 30, "doubts": []},
    "part_of_a_card": {**NOTHING, "name": A100, "memory_bytes": None, "doubts": []},
    "other_library": {"driver": False},
    "no_utility": {"driver": False},
}
"""What is found where clocks are held back by power or heat; another process is on the GPU; the driver is newer than
nvidia-ml-py and answers with codes, bits and types that it does not know; CUDA_VISIBLE_DEVICES names a MIG instance; a
container has a part of a card whose figures it may not read; the library is of another version than the driver's
module; and a container has CUDA without NVML."""

DOUBTS = {
    "other_library": "since NVIDIA's driver is not installed or does not answer; type `nvidia-smi` to see why",
    "no_utility": "NVML is not here, so nothing will be known of its GPU's use",
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "cuda.c").write_text(LIBRARY % 0)
    double = Path(__file__).with_name("nvml_double.c")
    for source, name in ((folder / "cuda.c", "cuda/libcuda.so.1"), (double, "nvml/libnvidia-ml.so.1")):
        (folder / name).parent.mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(folder / name), str(source)], check=True)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_what_the_driver_tells_is_taken_as_it_is(libraries: Path, case: str) -> None:
    """None of these ends in an error, and what is lacking spoils nothing else."""
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    environment |= {"NVML_CASE": case, "PYTHONPATH": str(ROOT)}
    environment["LD_LIBRARY_PATH"] = str(libraries / ("cuda" if case == "no_utility" else "nvml"))
    environment |= {"CUDA_VISIBLE_DEVICES": "MIG-8c4c5a27"} if case == "mig" else {}
    done = subprocess.run([sys.executable, "-c", ASKS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {name: answer.get(name) for name in CASES[case]} == CASES[case]
    assert DOUBTS.get(case, "") in "".join(answer["doubts"])
