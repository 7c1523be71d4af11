"""What `script/gpu-check` measures: a study with a plain loop beside sizer's programs, and that loop as it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_table import lines

from sizer import api
from sizer.host.frameworks import gpus_seen
from sizer.limits.interface import Control
from sizer.records.messages import HostError, SizerError
from sizer.words.language import in_words

ROOT = Path(__file__).resolve().parent.parent
PLAIN = Path(__file__).with_name("plain_training.py")

STUDY_SHARE, PROFILE_SHARE = 0.82, 0.95
"""Of the time, when no further run of the study begins, and none of the profile."""
GRACE_SECONDS = 15.0
"""For the run that goes on then, and for the answer; after it the run is stopped."""
LEAST_SECONDS = 5.0
"""Less is not enough to begin anything."""
AS_MEANT = (0, 4, 130)
"""Exit codes of a study, of one with runs that failed, and of one that the time ended."""


@dataclass(frozen=True)
class Size:
    """What is measured: the image network, its batch sizes (the first is the usual one), precisions and modes, its
    programs that read images, LSTM and transformer, the vCPUs as far as the host has them, fewer of them for these two,
    a memory cap, how many images there are, seconds and steps of a run, and the search for the largest batch."""

    network: str
    batch_sizes: tuple[int, ...]
    precisions: tuple[str, ...]
    modes: tuple[str, ...]
    reading: dict[str, str]
    lstm: dict[str, Any]
    transformer: dict[str, Any]
    vcpus: tuple[int, ...]
    fewer_vcpus: tuple[int, ...]
    memory: str | None
    images: int
    seconds: float
    steps: int
    largest_batch: bool | int


ON_GPU = Size(
    network="resnet50",
    batch_sizes=(64, 32, 128),
    precisions=("fp16", "fp32"),
    modes=("train", "forward", "forward_backward"),
    reading={"train": "image_training", "infer": "image_inference"},
    lstm={"kind": "language_training", "network": "medium", "batch_size": 32},
    transformer={
        "kind": "language_training",
        "network": "bert_base",
        "batch_size": 32,
        "options": {"precision": "fp16"},
    },
    vcpus=(1, 2, 4, 8, 16),
    fewer_vcpus=(1, 4, 16),
    memory="8GiB",
    images=2_000,
    seconds=4.0,
    steps=10,
    largest_batch=True,
)
REHEARSAL = Size(
    network="squeezenet",
    batch_sizes=(2,),
    precisions=("fp32",),
    modes=("train", "forward_backward"),
    reading={"train": "image_training"},
    lstm={"kind": "language_training", "network": "small", "batch_size": 4},
    transformer={"kind": "image_inference", "network": "vit_b16", "batch_size": 1, "input": "synthetic"},
    vcpus=(1,),
    fewer_vcpus=(),
    memory=None,  # the search for the largest batch has a cap
    images=40,
    seconds=0.3,
    steps=2,
    largest_batch=4,
)


def main() -> int:
    begin = time.monotonic()
    device, out, minutes = sys.argv[1:]  # as script/gpu-check has checked them
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return checked(device, Path(out), Sizer(begin, float(minutes) * 60))
    except SizerError as error:
        print(in_words(error), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def checked(device: str, out: Path, sizer: Sizer) -> int:
    """Measure all, answer, and print the table; the exit code."""
    look_for_gpu(device)
    size, host = (REHEARSAL if device == "cpu" else ON_GPU), api.this_host()
    file, study, profile = out / "study.yaml", out / "study", out / "profile"
    out.mkdir(parents=True, exist_ok=True)
    caps = any(
        capability.control is Control.MEMORY and capability.available for capability in host.backend.capabilities()
    )
    file.write_text(json.dumps(study_file(size, device, host.size.vcpus, caps), indent=1) + "\n")
    codes = [sizer.typed(STUDY_SHARE, "run", str(file), "--out", str(study))]
    if codes[0] in AS_MEANT and not sizer.interrupted:
        program = plain_loop(size, device, size.precisions[0], size.batch_sizes[0])
        how = ["--seconds", f"{min(3.0, size.seconds):g}", "--repeats", "1", "--no-memory-floor"]
        how += ["--samples-per-step", str(size.batch_sizes[0]), "--sample-unit", "image"]
        codes.append(sizer.typed(PROFILE_SHARE, "profile", "--out", str(profile), *how, "--", *program))
    if codes[0] not in AS_MEANT and not (study / "study.yaml").exists():
        return codes[0]
    if (study / "study.yaml").exists():
        sizer.typed(1.0, "recommend", str(study))
    limits = f"{host.size.vcpus} vCPUs, {host.backend.name}{'' if caps else ' (no memory cap)'}"
    table = "\n".join(lines(device, study, profile, f"{limits}, {sizer.seconds:.0f} s"))
    print(table)
    (out / "table.txt").write_text(table + "\n")
    return 130 if sizer.interrupted else max(0 if code in AS_MEANT else abs(code) for code in codes)


def look_for_gpu(device: str) -> None:
    """Raises HostError where PyTorch does not see it."""
    if device == "cpu":
        return
    seen = gpus_seen("pytorch", Path(sys.executable)) or ()
    if int(device.removeprefix("cuda:")) >= len(seen):
        raise HostError(
            "PyTorch in {python} sees {count} GPUs and no {device}; type `nvidia-smi` to see what the driver has, or "
            "rehearse with --device cpu.",
            python=sys.executable,
            count=len(seen),
            device=device,
        )


class Sizer:
    """The command line, `seconds` after the check began, within its whole time; `interrupted` by a person."""

    def __init__(self, begin: float, whole: float) -> None:
        self._begin, self._whole = begin, whole
        self.interrupted = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def typed(self, share: float, *words: str) -> int:
        """The exit code of `sizer WORDS`, which ends as by Ctrl-C once this share of the time is over: 130."""
        until = self._begin + share * self._whole
        if until - time.monotonic() < LEAST_SECONDS:
            return 130
        print(f"\n$ sizer {' '.join(words)}", flush=True)
        # sizer need not be installed; in a session of its own an interrupt comes to it by us alone.
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        child = subprocess.Popen([sys.executable, "-m", "sizer", *words], env=environment, start_new_session=True)
        while True:
            try:
                return child.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                until = time.monotonic() + GRACE_SECONDS
            except KeyboardInterrupt:
                self.interrupted = True
            child.send_signal(signal.SIGINT)


def study_file(size: Size, device: str, host_vcpus: int, caps: bool) -> dict[str, Any]:
    """Around all vCPUs that the host has of those asked for; `caps` says whether it can limit memory.

    A rehearsal is around the fewest: two threads that wait for each other on a busy CPU take many times as long.
    """
    vcpus = [count for count in size.vcpus if count <= host_vcpus]
    fewer = {"vcpus": [count for count in size.fewer_vcpus if count in vcpus]}
    more: dict[str, Any] = {"memory": size.memory} if caps and size.memory is not None else {}
    more |= {"gpu_count": 1} if device != "cpu" else {}
    on = {"framework": "pytorch", "device": device}
    images = {**on, "network": size.network}
    fed = {**images, "batch_size": size.batch_sizes[0], "cache": "warm", "options": {"precision": size.precisions[0]}}
    workloads: list[dict[str, Any]] = [
        *({**fed, "name": name, "kind": kind, "axes": {"vcpus": vcpus}} for name, kind in size.reading.items()),
        {"name": "lstm", **on, **size.lstm, "axes": fewer},
        {"name": "transformer", **on, **size.transformer, "axes": fewer},
    ]
    workloads[0]["axes"] |= more
    for precision in size.precisions:
        alike = {"batch_size": [*size.batch_sizes], "axes": {"vcpus": []}}
        step = {**images, **alike, "kind": "image_training", "input": "synthetic", "options": {"precision": precision}}
        modes = size.modes if precision == size.precisions[0] else size.modes[:1]
        workloads += [{**step, "name": f"{mode}-{precision}", "mode": mode} for mode in modes]
        loop = {"kind": "command", "command": plain_loop(size, device, precision, "{batch_size}"), "device": device}
        printed = {"pattern": r"rate (?P<rate>[\d.]+)", "sample_unit": "image"}
        workloads.append({**alike, **loop, **printed, "name": f"plain-{precision}"})
    if device != "cpu" or caps:
        next(workload for workload in workloads if workload.get("mode") == "train")["largest_batch"] = (
            size.largest_batch
        )
    return {
        "name": "gpu-check",
        "workloads": workloads,
        "embedded_images": size.images,
        "around": {"vcpus": vcpus[0] if device == "cpu" else vcpus[-1]},
        "measure": {"repeats": 1, "seconds": size.seconds, "precision": 0.01, "steps": size.steps, "timeout": 90},
    }


def plain_loop(size: Size, device: str, precision: str, batch_size: int | str) -> list[str]:
    """A program that knows nothing of sizer: the same training, timed by the GPU's events."""
    words = ["--network", size.network, "--batch-size", str(batch_size), "--precision", precision]
    words += ["--threads", "1", "--frequent", "1"] if device == "cpu" else ["--device", device, "--frequent", "4"]
    return [sys.executable, str(PLAIN), *words]


if __name__ == "__main__":
    raise SystemExit(main())
