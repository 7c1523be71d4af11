"""What a workload computes of a batch: `forward`, `forward_backward` or `train`, as its study file asks for it."""

from __future__ import annotations

from typing import Any

from sizer.records.kinds import FORWARD, KINDS
from sizer.records.messages import AnyOf
from sizer.study.axes import distinct
from sizer.study.document import Document, Key

TRAINING, INFERENCE = "image_training", "image_inference"


def read_modes(document: Document, key: Key, entry: dict[str, Any]) -> tuple[str | None, ...]:
    """The modes of the entry at `key`, (None,) where it names none; raises InputError for one that it cannot have."""
    if "mode" not in entry:
        return (None,)
    given = entry["mode"]
    modes = distinct(given if isinstance(given, list) else [given])
    kind = entry["kind"]
    possible = (*KINDS[kind].modes, FORWARD) if kind == TRAINING else KINDS[kind].modes
    for mode in modes:
        if mode not in possible and kind == INFERENCE:
            raise document.input_error(
                (*key, "mode"),
                "`mode: {mode}` contradicts `kind: {kind}`, which computes no gradient; write `kind: {training}`, "
                "which can be measured in every mode.",
                mode=mode,
                kind=kind,
                training=TRAINING,
            )
        if mode not in possible:
            raise document.input_error(
                (*key, "mode"),
                "`mode: {mode}` is nothing that {kind} can compute; write {possible}.",
                mode=mode,
                kind=kind,
                possible=AnyOf(*possible),
            )
    return modes


def kind_of_mode(kind: str, mode: str | None) -> str:
    """The kind whose program computes that mode: the forward pass of a network that is trained is its inference."""
    return INFERENCE if kind == TRAINING and mode == FORWARD else kind
