"""The `options` of a workload in a study file, and what it says that would change nothing.

That is refused, so that no record says what was not so; so is an option that the framework or device lacks. A file that
sizer wrote is not asked: it holds every default, and runs that were made with it go on.
"""

from __future__ import annotations

from typing import Any

from sizer.records.device import Device
from sizer.records.frameworks import (
    FRAMEWORKS,
    OF_IMAGES,
    OF_READING,
    RUNNABLE,
    WITHOUT,
    FrameworkOptions,
)
from sizer.records.kinds import LANGUAGE, PREPROCESSING, TAKES_VECTORS
from sizer.records.messages import InputError
from sizer.study.document import Document, Key

OF_COMPUTING = ("compile", "channels_last")
OF_DATA = ("data", "format", "isolate")
"""What says how data is read, and that reading is to be measured by itself."""


def check_input(document: Document, key: Key, entry: dict[str, Any]) -> None:
    """Raise InputError for what is said of data that is not read, and for a cache state that input cannot have.

    `cache: cold` is taken beside synthetic input: its runs say so anyway.
    """
    if document.resolved:
        return
    fed, cache = entry.get("input"), entry.get("cache")
    if fed == "cached" and cache in ("cold", "natural"):
        raise document.input_error(
            (*key, "cache"),
            "`input: cached` is read from the page cache, so its cache is warm; remove this line, or write "
            "`input: disk`.",
        )
    if fed != "synthetic":
        return
    for name in OF_DATA:
        if entry.get(name) not in (None, False):
            raise _synthetic(document, (*key, name), name)
    if cache in ("natural", "warm"):
        raise _synthetic(document, (*key, "cache"), f"cache: {cache}")


def check_sources(document: Document, key: Key, emulate: dict[str, Any]) -> None:
    """Raise InputError for what says where a figure of an emulated GPU comes from that is not given."""
    rated = "samples_per_second" in emulate or "batch_rates" in emulate
    given = {"source": rated, "basis": rated, "scaling_source": "scaling_loss" in emulate}
    for name, known in given.items():
        if name in emulate and not known and not document.resolved:
            raise document.input_error(
                (*key, name),
                "`{name}` belongs to `{figure}`, which is not given; write that, too, or remove this line.",
                name=name,
                figure="scaling_loss" if name == "scaling_source" else "samples_per_second",
            )


def check_options(document: Document, key: Key, entry: dict[str, Any], device: Device) -> None:
    """Raise InputError for one of the entry's options that changes nothing; `key` is theirs."""
    given: dict[str, Any] = entry.get("options", {})
    if given.get("workers") == 0 and "prefetch" in given:
        raise document.input_error(
            (*key, "prefetch"),
            "`prefetch` is what each worker holds ready, and with `workers: 0` there is none; remove one of them.",
        )
    for name in given:
        if name in OF_READING and entry.get("input") == "synthetic":
            raise _synthetic(document, (*key, name), name)
    if given.get("pin_memory") and device.kind != "cuda":
        raise document.input_error(
            (*key, "pin_memory"),
            "`pin_memory: true` changes nothing on this device, to which no batch is copied; remove this line, or "
            "write `device: cuda:0`.",
        )
    for name in OF_COMPUTING:
        if given.get(name) and device.kind == "emulated":
            raise document.input_error(
                (*key, name),
                "`{name}: true` changes nothing on an emulated GPU, which waits and computes nothing; remove this "
                "line.",
                name=name,
            )
    if given.get("channels_last") and entry.get("network") in [*TAKES_VECTORS]:
        raise document.input_error(
            (*key, "channels_last"),
            "`channels_last: true` is how images lie in memory, and {network} takes vectors; remove this line.",
            network=entry["network"],
        )


def _synthetic(document: Document, key: Key, name: str) -> InputError:
    return document.input_error(
        key,
        "`{name}` changes nothing with `input: synthetic`, which reads and decodes nothing; remove this line.",
        name=name,
    )


def read_options(
    document: Document, key: Key, entry: dict[str, Any], framework: str | None, device: Device
) -> FrameworkOptions:
    """The options of the entry, but for its precision, for one framework on one device; `key` is theirs.

    An option that the framework lacks is left out where it asks for what the framework does anyway. Raises InputError
    where it asks for something else.
    """
    given: dict[str, Any] = entry.get("options", {})
    has = FRAMEWORKS[framework].options if framework in RUNNABLE else frozenset(given)
    for name, value in given.items():
        if name in OF_IMAGES and entry["kind"] in LANGUAGE:
            raise document.input_error((*key, name), "`{name}` is an option for images; remove this line.", name=name)
        if name not in has and entry["kind"] == PREPROCESSING:
            raise document.input_error(
                (*key, name),
                "{preprocessing} has no option `{name}`, only `decoder`; remove this line.",
                preprocessing=PREPROCESSING,
                name=name,
            )
        if name not in has and WITHOUT.get(name) != value:
            raise document.input_error(
                (*key, name),
                "{framework} has no option `{name}`; remove this line, or give {framework} a workload of its own.",
                framework=framework,
                name=name,
            )
    if not document.resolved:
        check_options(document, key, entry, device)
    if given.get("precision") == "fp16" and device.kind == "cpu":
        raise document.input_error(
            (*key, "precision"), "fp16 needs a GPU; write `precision: bf16`, or `device: cuda:0`."
        )
    options = {name: value for name, value in given.items() if name in has and name != "precision"}
    return FrameworkOptions(**options)
