"""Scaling curves that others measured and published, each with its source. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One curve: the axis, where on it was measured, and the rates in the unit of the source."""

    name: str
    axis: str
    places: tuple[float, ...]
    rates: tuple[float, ...]
    unit: str
    source: str


PUBLISHED = (
    Published(
        "ray tracer on an SGI Origin 2000",
        "vcpus",
        (1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64),
        (20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310),
        "intersections/s",
        "data set `raytracer` of the R package usl (smoeding/usl, 480c97b), from Gunther, Guerrilla Capacity Planning",
    ),
    Published(
        "SPEC SDM91 on a Sun SPARCcenter 2000, by simulated users",
        "vcpus",
        (1, 18, 36, 72, 108, 144, 216),
        (64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2),
        "scripts/hour",
        "data set `specsdm91` of the R package usl (smoeding/usl, 480c97b), from Gunther, Guerrilla Capacity Planning",
    ),
    Published(
        "PyTorch DataLoader decoding ImageNet with OpenCV on an Apple M4 Max, by workers",
        "vcpus",
        (4, 5, 6, 7, 12, 16),
        (649.68, 571.58, 505.21, 449.61, 282.13, 214.13),
        "images/s",
        "ternaus/imread_benchmark, 1bd5b24: output/darwin_Apple-M4-Max/batch_size_128/num_runs_5 (mean of 5 runs)",
    ),
    Published(
        "Caffe2 training Inception on a Titan X (cuDNN 4), by batch size",
        "batch",
        (16, 32, 64, 128),
        (16 / 0.0727, 32 / 0.1275, 64 / 0.2336, 128 / 0.4506),
        "images/s",
        "caffe2/python/convnet_benchmarks.py of pytorch (282eefebf3): 72.7, 127.5, 233.6, 450.6 ms a batch",
    ),
)
