"""The study file of the machine of 2018: what is measured, and at which points. Pure."""

from __future__ import annotations

import json
from typing import Any

from alibaba_machine import FACTOR, INFER_OVER_TRAIN, MEMORY, TIERS, TRAIN, WORDS_PER_SECOND

IMAGES = 4000
VCPUS = [0.5, 1, 2]
ALL = [tier.name for tier in TIERS]
BEST, WORST = ALL[0], ALL[-1]
FOLLOWED = "resnet50"
"""The network whose vCPUs are varied, too."""


def study_text(repeats: int, seconds: float) -> str:
    """The study as JSON, which is YAML."""
    study = {
        "name": "alibaba-2018",
        "workloads": [*_networks("train"), *_networks("infer"), _preprocess(), _lstm()],
        "disks": {tier.name: {"emulate": _emulated(tier)} for tier in TIERS},
        "embedded_images": IMAGES,
        "measure": {"repeats": repeats, "seconds": seconds, "precision": 0.02, "seed": 1},
    }
    return json.dumps(study, indent=1)


def _emulated(tier: Any) -> dict[str, Any]:
    return {"class": tier.disk_class, "read_iops": tier.iops * FACTOR, "read_mbps": tier.mbps * FACTOR}


def _networks(mode: str) -> list[dict[str, Any]]:
    share = INFER_OVER_TRAIN if mode == "infer" else 1.0
    return [_network(mode, network, rate * share * FACTOR) for network, rate in TRAIN.items()]


def _network(mode: str, network: str, rate: float) -> dict[str, Any]:
    """LMDB, in order, evicted at each epoch's end: as where the data is much larger than memory."""
    return {
        "name": f"{mode}-{network}",
        "kind": "image_training" if mode == "train" else "image_inference",
        "network": network,
        "format": "lmdb",
        "batch_size": 32,
        "cache": "cold",
        "device": {"emulate": {"gpu": "P100", "samples_per_second": round(rate, 1)}},
        "axes": {
            "vcpus": VCPUS if network == FOLLOWED else VCPUS[-1:],
            "memory": [MEMORY],
            "disk": _disks(mode, network),
        },
    }


def _disks(mode: str, network: str) -> list[str]:
    """What was found of training compares the best disk with the worst alone."""
    return ALL if mode == "infer" or network == FOLLOWED else [BEST, WORST]


def _preprocess() -> dict[str, Any]:
    axes = {"vcpus": VCPUS, "memory": [MEMORY], "disk": ALL}
    return {"name": "preprocess", "kind": "imagenet_preprocessing", "format": "lmdb", "cache": "cold", "axes": axes}


def _lstm() -> dict[str, Any]:
    device = {"emulate": {"gpu": "P100", "samples_per_second": WORDS_PER_SECOND * FACTOR}}
    axes = {"vcpus": VCPUS, "memory": ["1GiB", "4GiB"], "disk": [BEST]}
    return {
        "name": "lstm",
        "kind": "lstm_training",
        "network": "medium",
        "cache": "cold",
        "device": device,
        "axes": axes,
    }
