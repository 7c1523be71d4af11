"""What a reader must know of a network that two frameworks define otherwise."""

from __future__ import annotations

from sizer.records.networks import DIFFERENCES, DifferenceKind
from sizer.words.figures import whole
from sizer.words.language import _


def definitions_differ(network: str) -> str:
    """How the definitions of a network in `DIFFERENCES` differ."""
    found = DIFFERENCES[network]
    figures = {name: whole(count) for name, count in found.parameters.items()}
    if found.kind is DifferenceKind.BATCH_NORMALISATION:
        return _(
            "{network} is not the same network in both: MXNet's has {mxnet} parameters and no batch normalisation, "
            "PyTorch's has {pytorch}, with batch normalisation and with 3x3 in the place of 5x5",
            network=network,
            **figures,
        )
    return _(
        "{network} has {mxnet} parameters in MXNet and {pytorch} in PyTorch: biases in front of batch normalisation, "
        "which cost next to nothing",
        network=network,
        **figures,
    )
