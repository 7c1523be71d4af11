"""What kind of arithmetic a network is: which figure of an accelerator it follows, and which networks are alike."""

from __future__ import annotations

_LIGHT = ("mobilenet", "efficientnet", "squeezenet", "shufflenet")
_MATRICES = ("bert", "vit", "transformer", "gpt", "gnmt", "lstm", "convnext", "llama", "fcn")
_VARIANTS = ("_features", "_squad", "_owt", "_no_groups")

TRAINING = ("train", "forward_backward")


def kind_of(network: str) -> str:
    """`light`: few operations a byte (depthwise convolutions); `matrices`: large products; else `convolutions`.

    A light network follows an accelerator's memory bandwidth, large products its arithmetic.
    """
    if network.startswith(_LIGHT):
        return "light"
    return "matrices" if network.startswith(_MATRICES) else "convolutions"


def family_of(network: str) -> str:
    """Networks that differ in what they are used for, or in a last layer, are one: `bert_large_squad`, `bert_large`."""
    for variant in _VARIANTS:
        network = network.removesuffix(variant)
    return "bert" if network.startswith("bert") else network


def passes_of(mode: str) -> str:
    """`train` where a step goes forward and backward, `infer` where it goes forward alone."""
    return "train" if mode in TRAINING else "infer"
