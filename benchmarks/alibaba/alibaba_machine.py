"""A gn5 instance of 2018 at the scale of this host: its disks, its P100 and its vCPUs, by one factor. Pure.

What was measured then: "GPU云服务器深度学习性能模型初探" (Alibaba Cloud, April 2018): NVCaffe on ImageNet as an LMDB
of raw 256 x 256 images read in order (240 GB, 187 kB an image), MXNet's LSTM on PennTreeBank, one P100.

The one factor says how long a second of then takes here. It holds the ratio of CPU to disk: a P100 came with 8 vCPUs
(ecs.gn5-c8g1.2xlarge), four cores with hyperthreads; here are two cores without. It was fixed before anything was
measured, and everything that has a rate is scaled by it: MB/s, IOPS, samples/s. Bytes a sample are what they were.
"""

from __future__ import annotations

from dataclasses import dataclass

CORES_THEN, HYPERTHREAD_YIELD = 4, 1.25
"""ecs.gn5-c8g1.2xlarge; a second thread adds about a quarter to a core (assumed)."""
CORES_HERE = 2
CORE_SPEED = 2.5
"""One core here (EPYC Zen 5) over one then (Xeon E5-2682 v4, Broadwell, 2.5 GHz): ASSUMED, 2 to 3 is likely."""

FACTOR = CORES_HERE * CORE_SPEED / (CORES_THEN * HYPERTHREAD_YIELD)
"""1.0: two cores here do what the eight vCPUs did, so the disks and the P100 keep the rates that they had."""

VCPUS_THEN_OVER_HERE = 4
"""2 vCPU then are half a vCPU here. A program of one thread had a core to itself then: 0.4 here, measured at 0.5."""


@dataclass(frozen=True)
class Tier:
    """A disk of then: IOPS and MB/s at the size of then, and its latency in seconds, which nothing here emulates."""

    name: str
    disk_class: str
    iops: float
    mbps: float
    latency: float


TIERS = (
    Tier("nvme", "nvme", 165 * 440, 1.4 * 440, 0.0001),
    Tier("ssd", "ssd", min(1800 + 30 * 500, 25_000), min(120 + 0.5 * 500, 300), 0.001),
    Tier("standard", "standard", min(1800 + 8 * 500, 5_000), min(100 + 0.15 * 500, 140), 0.002),
)
"""gn5's own 440 GiB of NVMe; SSD and efficiency cloud disks of 500 GiB, which hold ImageNet twice: Alibaba Cloud ECS
documentation, local disks (2021-03-04) and EBS performance (2021-04-28). Of 2018 itself no figures were found."""

TRAIN = {"resnet50": 219.0, "vgg16": 154.0, "alexnet": 2987.0, "googlenet": 570.0}
"""Images/s of a P100, synthetic data, fp32: TensorFlow performance benchmarks, 2017. GoogLeNet is not among them:
ASSUMED, ResNet-50's times the ratio of their multiplications (3.9 to 1.5 milliards)."""

INFER_OVER_TRAIN = 1127 / 367
"""ASSUMED for the P100, of which no inference is published: a V100-16GB's (NVIDIA DeepLearningExamples, ResNet-50)."""

WORDS_PER_SECOND = 35_000.0
"""ASSUMED: two LSTM layers of 650 and a softmax of 10,000 are 80 MFLOP a word in training; 30 % of 9.3 TFLOPS."""

MEMORY = "512MiB"
"""Less than any of the data sets here (LMDB 790 MB), as 60 GB were less than 240 GB: nothing that is read is kept."""
