"""What preprocessing is made of: each part of it alone, their sum, and the program and im2rec beside that, in one run.

    python benchmarks/cost/preprocessing_parts.py [--rounds 7] [--images 200]

Parts are CPU seconds an image on one CPU: reading (from the page cache), decoding, resizing to a shorter side of 256,
encoding at quality 95 or as raw pixels, framing, writing (into RAM). Of several libraries that can do one, each is a
row. The images go through in groups of eight, and every row does a group before the next group comes, in an order that
turns, so that what disturbs the machine is in all rows alike. The sum is of the rows marked `used`: what the same work
costs by the same libraries. A program may come out a little below it, since it finds in the processor's nearest cache
what it has just made.

Beside the sum, in the same rounds: the parts in one plain loop, once as glibc is and once with freed memory kept; the
program as `preprocessing_rate.py` runs it; and im2rec. What a decoder's pixels are worth is the PSNR of the small image
against OpenCV's, the least of all images.

Aims, by the 95 % intervals of the rounds' ratios: the program makes at least 0.9 times the images of the sum, for
RecordIO and LMDB, and 1.15 times im2rec's where the sum of the fastest row of each part does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parents[1] / "shared"))

import cv2
import numpy as np
import simplejpeg
from bench import BenchmarkHost, data_of, opened
from pairs import ratio, shown
from PIL import Image
from preprocessing_rate import im2rec, images_of, ours, packing

from sizer.records.messages import SizerError
from sizer.records.study import Workload

sys.path.insert(0, str(Path(__file__).parents[2]))

from workloads import image_transform, recordio
from workloads.freed_memory import keep_freed_memory
from workloads.record_writers import LmdbWriter, Record, RecordIOWriter

GROUP = 8
Part = Callable[[int], object]
"""One part for the image of a number."""

RECORDIO = ("read", "decode: simplejpeg", "resize: OpenCV", "encode: OpenCV", "frame", "write: RecordIO")
LMDB = ("read", "decode: simplejpeg", "resize: OpenCV", "raw pixels", "write: LMDB")
FASTER = {
    "decode: simplejpeg": "decode: simplejpeg, fast upsampling and DCT",
    "encode: OpenCV": "encode: simplejpeg",
}
FASTEST = tuple(FASTER.get(part, part) for part in RECORDIO)
"""With what is given up for speed."""
SUM_AIM, IM2REC_AIM = 0.9, 1.15
LOOPS = {"one loop": "given-back", "one loop, freed memory kept": "kept"}
PROGRAMS = {
    "program": ours("simplejpeg", "recordio"),
    "program, --decoder opencv": ours("opencv", "recordio"),
    "program, --decoder pillow": ours("pillow", "recordio"),
    "program, LMDB": ours("simplejpeg", "lmdb"),
    "im2rec": im2rec,
}


@dataclass
class Group:
    """A few images at every stage between two parts."""

    files: list[Path]
    folder: Path

    def __post_init__(self) -> None:
        self.encoded = [file.read_bytes() for file in self.files]
        self.pixels = [simplejpeg.decode_jpeg(each, "BGR") for each in self.encoded]
        self.small = [resized(each) for each in self.pixels]
        self.pictures = [Image.fromarray(each[:, :, ::-1]) for each in self.pixels]
        self.small_pictures = [Image.fromarray(each[:, :, ::-1]) for each in self.small]
        self.jpegs = [image_transform.as_jpeg(each) for each in self.small]
        self.datums = [image_transform.as_datum(each, 1) for each in self.small]
        self.framed = [recordio.framed(recordio.image_record(1.0, 1, each)) for each in self.jpegs]


def parts(group: Group, records: RecordIOWriter, lmdb: LmdbWriter, first: int) -> dict[str, Part]:
    """Each row's work on the image of a number in the group, whose first is the image `first` of all."""
    decode = simplejpeg.decode_jpeg
    return {
        "read": lambda i: read(group.files[i]),
        "decode: simplejpeg": lambda i: decode(group.encoded[i], "BGR"),
        "decode: OpenCV": lambda i: image_transform.decode(group.encoded[i]),
        "decode: simplejpeg, fast upsampling": lambda i: decode(group.encoded[i], "BGR", fastupsample=True),
        "decode: simplejpeg, fast upsampling and DCT": lambda i: decode(
            group.encoded[i], "BGR", fastupsample=True, fastdct=True
        ),
        "decode: simplejpeg, scaled": lambda i: decode(group.encoded[i], "BGR", min_height=256, min_width=256),
        "decode: Pillow": lambda i: Image.open(BytesIO(group.encoded[i])).convert("RGB"),
        "resize: OpenCV": lambda i: resized(group.pixels[i]),
        "resize: Pillow": lambda i: group.pictures[i].resize(
            (group.small[i].shape[1], group.small[i].shape[0]), Image.Resampling.BILINEAR
        ),
        "encode: OpenCV": lambda i: image_transform.as_jpeg(group.small[i]),
        "encode: simplejpeg": lambda i: simplejpeg.encode_jpeg(group.small[i], 95, "BGR", "420"),
        "encode: Pillow": lambda i: group.small_pictures[i].save(BytesIO(), "JPEG", quality=95),
        "raw pixels": lambda i: image_transform.as_datum(group.small[i], 1),
        "frame": lambda i: recordio.framed(recordio.image_record(1.0, i, group.jpegs[i])),
        "write: RecordIO": lambda i: records.write([Record(first + i, "image.jpg", group.framed[i])]),
        "write: LMDB": lambda i: lmdb.write([Record(first + i, "image.jpg", group.datums[i])]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--images", type=int, default=200, help="of which the parts are measured")
    parser.add_argument("--loop", choices=tuple(LOOPS.values()), help=argparse.SUPPRESS)
    given = parser.parse_args()
    try:
        if given.loop:
            return loop(given.loop == "kept", sys.stdin.read().splitlines())
        with opened() as bench:
            return measure(bench, given.rounds, given.images)
    except SizerError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def measure(bench: BenchmarkHost, rounds: int, images: int) -> int:
    """The rounds, then the table; the exit code."""
    keep_freed_memory()
    cv2.setNumThreads(1)
    data = data_of(Workload("preprocessing", "imagenet_preprocessing", "opencv", format="recordio"))
    assert data is not None
    files = images_of(data)
    chosen = files[:: max(1, len(files) // images)][:images]
    seconds: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        with one_cpu():
            found = alone(chosen, bench.folder, number)
            for name, how in LOOPS.items():
                found[name] = in_one_loop(how, files)
        found |= {name: 1 / packing(bench, data, program) for name, program in PROGRAMS.items()}
        for name, used in found.items():
            seconds[name].append(used)
        print(
            f"round {number + 1}: " + ", ".join(f"{name} {used * 1e3:.3f}" for name, used in found.items()), flush=True
        )
    print_table(seconds, likeness(chosen))
    return judged(seconds)


@contextmanager
def one_cpu() -> Iterator[None]:
    """On the first CPU of this process."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def alone(files: Sequence[Path], folder: Path, number: int) -> dict[str, float]:
    """CPU seconds an image of each row."""
    used: dict[str, float] = defaultdict(float)
    records, lmdb = RecordIOWriter(folder), LmdbWriter(folder, len(files))
    for first in range(0, len(files), GROUP):
        group = Group(list(files[first : first + GROUP]), folder)
        rows = list(parts(group, records, lmdb, first).items())
        turn = (first // GROUP + number) % len(rows)
        for name, part in rows[turn:] + rows[:turn]:
            for index in range(len(group.files)):
                begin = time.process_time()
                part(index)
                used[name] += time.process_time() - begin
    records.discard()
    lmdb.discard()
    # What the clock itself costs is in every row.
    begin = time.process_time()
    for _ in range(10_000):
        time.process_time()
    clock = (time.process_time() - begin) / 10_000
    return {name: seconds / len(files) - clock for name, seconds in used.items()}


def in_one_loop(how: str, files: Sequence[Path]) -> float:
    """CPU seconds an image of the parts one after another, in a process of their own."""
    command = [sys.executable, __file__, "--loop", how]
    done = subprocess.run(command, input="\n".join(map(str, files)), text=True, stdout=subprocess.PIPE, check=True)
    return float(json.loads(done.stdout))


def loop(kept: bool, files: Sequence[str]) -> int:
    """Read, decode, resize, encode, frame and write each of `files`; prints the CPU seconds an image."""
    if kept:
        keep_freed_memory()
    cv2.setNumThreads(1)
    descriptor = os.memfd_create("records")
    begin = time.process_time()
    for number, file in enumerate(files):
        small = resized(simplejpeg.decode_jpeg(read(Path(file)), "BGR"))
        os.write(descriptor, recordio.framed(recordio.image_record(1.0, number, image_transform.as_jpeg(small))))
    print(json.dumps((time.process_time() - begin) / len(files)))
    return 0


def read(file: Path) -> bytes:
    with open(file, "rb", buffering=0) as opened_file:
        return opened_file.read()


def resized(pixels: image_transform.Image) -> image_transform.Image:
    small = image_transform.resize(pixels)
    assert small is not None
    return small


def likeness(files: Sequence[Path]) -> dict[str, float]:
    """The least PSNR in dB, of all files, of each decoder's small image against OpenCV's; infinite for the same."""
    least: dict[str, float] = defaultdict(lambda: float("inf"))
    decode = simplejpeg.decode_jpeg
    for file in files:
        encoded = file.read_bytes()
        pixels = image_transform.decode(encoded)
        assert pixels is not None
        reference = resized(pixels)
        found = {
            "decode: simplejpeg": decode(encoded, "BGR"),
            "decode: simplejpeg, fast upsampling": decode(encoded, "BGR", fastupsample=True),
            "decode: simplejpeg, fast upsampling and DCT": decode(encoded, "BGR", fastupsample=True, fastdct=True),
            "decode: simplejpeg, scaled": decode(encoded, "BGR", min_height=256, min_width=256),
            "decode: Pillow": np.asarray(Image.open(BytesIO(encoded)).convert("RGB"))[:, :, ::-1],
        }
        for name, image in found.items():
            size = (reference.shape[1], reference.shape[0])
            small = cv2.resize(np.ascontiguousarray(image), size).astype(np.uint8, copy=False)
            least[name] = min(least[name], psnr(small, reference))
        for name, jpeg in {
            "encode: simplejpeg": simplejpeg.encode_jpeg(reference, 95, "BGR", "420"),
            "encode: OpenCV": image_transform.as_jpeg(reference),
        }.items():
            image = image_transform.decode(jpeg)
            assert image is not None
            least[name] = min(least[name], psnr(image, reference))
    return least


def psnr(image: image_transform.Image, reference: image_transform.Image) -> float:
    """Peak signal to noise in dB."""
    error = float(np.mean((image.astype(np.float64) - reference) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


def print_table(seconds: dict[str, list[float]], least: dict[str, float]) -> None:
    """A row of Markdown for each row."""
    print("\n| part | ms of CPU an image, median (least to most) | used | least PSNR, dB |\n|---|---|---|---|")
    for name, used in seconds.items():
        milliseconds = [each * 1e3 for each in used]
        mark = "yes" if name in RECORDIO else "LMDB" if name in LMDB else ""
        like = f"{least[name]:.1f}" if name in least else ""
        print(
            f"| {name} | {median(milliseconds):.3f} ({min(milliseconds):.3f} to {max(milliseconds):.3f}) | {mark} "
            f"| {like.replace('inf', 'the same')} |"
        )


def judged(seconds: dict[str, list[float]]) -> int:
    """The sums, and each ratio with whether it reaches its aim; the exit code."""
    sums = {
        name: [sum(each) for each in zip(*(seconds[part] for part in used), strict=True)]
        for name, used in (("RecordIO", RECORDIO), ("LMDB", LMDB), ("fastest", FASTEST))
    }
    for name, used in sums.items():
        print(f"sum of the parts, {name}: {median(used) * 1e3:.3f} ms, {1 / median(used):.0f} images a core-second")
    ratios = {
        name: ratio([other / own for own, other in zip(mine, theirs, strict=True)])
        for name, mine, theirs in (
            ("program / sum of the parts", seconds["program"], sums["RecordIO"]),
            ("program / sum of the parts, LMDB", seconds["program, LMDB"], sums["LMDB"]),
            ("program / one loop, freed memory kept", seconds["program"], seconds["one loop, freed memory kept"]),
            ("program / im2rec", seconds["program"], seconds["im2rec"]),
            ("program with OpenCV / im2rec", seconds["program, --decoder opencv"], seconds["im2rec"]),
            ("sum of the parts / im2rec", sums["RecordIO"], seconds["im2rec"]),
            ("sum of the fastest parts / im2rec", sums["fastest"], seconds["im2rec"]),
        )
    }
    for name, found in ratios.items():
        print(f"images a core-second, {name}: {shown(found)}")
    allowed = ratios["sum of the fastest parts / im2rec"].high >= IM2REC_AIM
    aims = {name: SUM_AIM for name in ratios if name.startswith("program / sum")}
    if allowed:
        aims["program / im2rec"] = IM2REC_AIM
    else:
        print(f"not even the sum of the fastest parts is {IM2REC_AIM} times as fast as im2rec")
    missed = [f"{name} (aim {aim})" for name, aim in aims.items() if ratios[name].high < aim]
    print("holds" if not missed else "DOES NOT HOLD: " + ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
