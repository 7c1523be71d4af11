"""What feeding images is made of, beside PyTorch's loader as sizer uses it, as its users do, and MXNet's own.

    python benchmarks/cost/loader_parts.py [--rounds 7]

CPU seconds an image, of the process and its workers together, over the embedded images from the page cache in batches
of 32, cropped at random and scaled to 224 x 224, on one vCPU; the first epoch is left out. The parts are reading,
decoding, cropping with scaling, and gathering a batch, one after another in one process with nothing around them.
sizer's loader is `workloads/backends/pytorch_input.py`, with one worker and with none. Beside it a DataLoader over a
data set of a few lines, as in PyTorch's tutorials: Pillow or OpenCV, with one worker. MXNet's ImageRecordIter reads
the images at a shorter side of 256, less to decode, as sizer packs a folder for it; what sizer reads for MXNet
itself is an LMDB, by one thread. Normalising is in none of them but MXNet's.

The cases take turns in every round. Aim: sizer's loader makes at least 0.9 times the images of the sum of the parts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parents[1] / "shared"))
sys.path.insert(0, str(Path(__file__).parents[2]))

import psutil
from bench import BenchmarkHost, data_of, on_this_machine
from pairs import ratio, shown

from sizer.records.study import Limits, Workload

BATCH, SIDE = 32, 224
EPOCHS = 3

Epoch = Callable[[], int]
"""Goes through the images once; returns how many they were."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--case", choices=tuple(CASES), help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        return measured(CASES[given.case](given.data))
    return on_this_machine(lambda bench: measure(bench, given.rounds))


def measure(bench: BenchmarkHost, rounds: int) -> int:
    """A line a round, then the table; the exit code."""
    forms = {form: path_of(form) for form in ("folder", "recordio", "lmdb")}
    used: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        for case in CASES:
            data = forms[next((form for form in ("recordio", "lmdb") if case.endswith(form)), "folder")]
            command = [sys.executable, __file__, "--case", case, "--data", str(data)]
            with bench.backend.open("loader", Limits(vcpus=1.0)) as group:
                environment = {**os.environ, "OMP_NUM_THREADS": "1"}
                done = subprocess.run(group.command(command), env=environment, stdout=subprocess.PIPE, check=True)
            used[case].append(float(json.loads(done.stdout.splitlines()[-1])))
        print(f"round {number + 1}: " + ", ".join(f"{case} {used[case][-1] * 1e3:.3f}" for case in CASES), flush=True)
    print("\n| case | ms of CPU an image, median (least to most) | images of it / of the parts |\n|---|---|---|")
    for case in CASES:
        milliseconds = [each * 1e3 for each in used[case]]
        beside = shown(ratio([parts / own for parts, own in zip(used["parts"], used[case], strict=True)]))
        print(
            f"| {case} | {median(milliseconds):.3f} ({min(milliseconds):.3f} to {max(milliseconds):.3f}) | {beside} |"
        )
    found = ratio([parts / own for parts, own in zip(used["parts"], used["sizer, 1 worker"], strict=True)])
    print(
        f"sizer's loader with a worker / the parts {shown(found)} (aim 0.9): {'holds' if found.high >= 0.9 else 'NO'}"
    )
    return 0 if found.high >= 0.9 else 1


def path_of(form: str) -> Path:
    """The embedded images in a form."""
    workload = Workload("train", "image_training", "pytorch" if form == "folder" else "mxnet", "resnet50", format=form)
    data = data_of(workload)
    assert data is not None
    return Path(data.path)


def measured(epoch: Epoch) -> int:
    """Prints the CPU seconds an image of later epochs."""
    epoch()
    begin, images = cpu_seconds(), 0
    for _ in range(EPOCHS):
        images += epoch()
    print(json.dumps((cpu_seconds() - begin) / images))
    sys.stdout.flush()
    os._exit(0)


def cpu_seconds() -> float:
    """Of this process, and of its children so far by the kernel's schedule, to the nanosecond."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        tasks = Path(f"/proc/{process.pid}").glob("task/*/schedstat")
        total += sum(int(task.read_text().split()[0]) for task in tasks)
    return time.process_time() + total / 1e9


def parts(data: Path) -> Epoch:
    import cv2
    import numpy as np
    import torch
    from torch.utils.data import default_collate

    from workloads.backends.pytorch_input import random_crop
    from workloads.freed_memory import keep_freed_memory
    from workloads.image_codecs import jpeg_decoder

    keep_freed_memory()
    cv2.setNumThreads(1)
    files, decode = sorted(data.glob("*/*")), jpeg_decoder()

    def image(file: Path) -> tuple[torch.Tensor, int]:
        with open(file, "rb", buffering=0) as opened_file:
            pixels = decode(opened_file.read(), "RGB")
        assert pixels is not None
        crop = random_crop(*pixels.shape[:2])
        part = pixels[crop.top : crop.top + crop.height, crop.left : crop.left + crop.width]
        scaled = cv2.resize(part, (SIDE, SIDE))
        return torch.from_numpy(np.ascontiguousarray(cv2.flip(scaled, 1) if crop.mirrored else scaled)), 0

    def epoch() -> int:
        for first in range(0, len(files) // BATCH * BATCH, BATCH):
            default_collate([image(file) for file in files[first : first + BATCH]])
        return len(files) // BATCH * BATCH

    return epoch


def sizer_loader(workers: int, decoder: str | None = None) -> Callable[[Path], Epoch]:
    def case(data: Path) -> Epoch:
        from workloads import data_set
        from workloads.backends import Settings
        from workloads.backends.pytorch_input import LoadedImages
        from workloads.computing import Reading
        from workloads.freed_memory import keep_freed_memory

        keep_freed_memory()
        settings = Settings("cpu", 1, 1, BATCH, reading=Reading(workers=workers, decoder=decoder))
        with data_set.open_images(data, "folder", None, 1, 1, reads_folders=True) as images:
            loaded = LoadedImages(images, SIDE, True, settings)
        return until_none(loaded.next_batch, loaded.restart)

    return case


def plain_loader(library: str) -> Callable[[Path], Epoch]:
    def case(data: Path) -> Epoch:
        import cv2
        import numpy as np
        import torch
        from PIL import Image
        from torch.utils.data import DataLoader, Dataset

        from workloads.backends.pytorch_input import random_crop

        cv2.setNumThreads(1)

        class Images(Dataset):  # type: ignore[misc]
            def __init__(self) -> None:
                self.files = sorted(data.glob("*/*"))

            def __len__(self) -> int:
                return len(self.files)

            def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
                if library == "opencv":
                    image = cv2.cvtColor(cv2.imread(str(self.files[index])), cv2.COLOR_BGR2RGB)
                    crop = random_crop(*image.shape[:2])
                    part = image[crop.top : crop.top + crop.height, crop.left : crop.left + crop.width]
                    pixels = cv2.resize(part, (SIDE, SIDE))
                else:
                    picture = Image.open(self.files[index]).convert("RGB")
                    crop = random_crop(picture.height, picture.width)
                    box = (crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)
                    pixels = np.asarray(picture.crop(box).resize((SIDE, SIDE), Image.Resampling.BILINEAR))
                if crop.mirrored:
                    pixels = pixels[:, ::-1]
                return torch.from_numpy(np.array(pixels)).permute(2, 0, 1), 0

        loader = DataLoader(Images(), BATCH, shuffle=True, num_workers=1, drop_last=True, persistent_workers=True)
        return lambda: sum(len(labels) for _, labels in loader)

    return case


def mxnet_records(data: Path) -> Epoch:
    from workloads import data_set
    from workloads.backends import Settings
    from workloads.backends.mxnet_backend import RecordIOImages

    with data_set.open_images(data, "recordio", None, 1, 1) as images:
        loaded = RecordIOImages(images, SIDE, True, Settings("cpu", 1, 1, BATCH))

    def batch() -> object:
        found = loaded.next_batch()
        if found is not None:
            found[0].wait_to_read()
        return found

    return until_none(batch, loaded.restart)


def mxnet_lmdb(data: Path) -> Epoch:
    from workloads.lmdb_images import LmdbBatches

    loaded = LmdbBatches(data, SIDE, BATCH, True, 1)
    return until_none(loaded.next_batch, loaded.restart)


def until_none(batch: Callable[[], object], restart: Callable[[], None]) -> Epoch:
    def batches() -> Iterator[object]:
        while (found := batch()) is not None:
            yield found
        restart()

    return lambda: BATCH * sum(1 for _ in batches())


CASES: dict[str, Callable[[Path], Epoch]] = {
    "parts": parts,
    "sizer, 1 worker": sizer_loader(1),
    "sizer, no worker": sizer_loader(0),
    "sizer, 1 worker, opencv": sizer_loader(1, "opencv"),
    "sizer, 1 worker, pillow": sizer_loader(1, "pillow"),
    "plain DataLoader, opencv": plain_loader("opencv"),
    "plain DataLoader, pillow": plain_loader("pillow"),
    "MXNet's ImageRecordIter, recordio": mxnet_records,
    "sizer's LMDB for MXNet, lmdb": mxnet_lmdb,
}

if __name__ == "__main__":
    raise SystemExit(main())
