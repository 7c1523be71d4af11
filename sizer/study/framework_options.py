"""The `options` of a workload in a study file: read, and refused where its framework or device lacks one, or where one
has no effect."""

from __future__ import annotations

from typing import Any

from sizer.records import (
    LANGUAGE,
    OF_FRAMEWORK,
    OF_IMAGES,
    OF_READING,
    PREPROCESSING,
    WITHOUT,
    Device,
    FrameworkOptions,
)
from sizer.study.document import Document, Key


def read_options(
    document: Document, key: Key, entry: dict[str, Any], framework: str | None, device: Device
) -> FrameworkOptions:
    """The options of the entry, but for its precision, for one framework on one device; `key` is theirs.

    An option that the framework lacks is left out where it asks for what the framework does anyway. Raises InputError
    where it asks for something else.
    """
    given: dict[str, Any] = entry.get("options", {})
    has = OF_FRAMEWORK.get(framework or "", frozenset(given))
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
        _check_effects(document, key, given, entry.get("input", "disk"), device)
    if given.get("precision") == "fp16" and device.kind == "cpu":
        raise document.input_error(
            (*key, "precision"), "fp16 needs a GPU; write `precision: bf16`, or `device: cuda:0`."
        )
    options = {name: value for name, value in given.items() if name in has and name != "precision"}
    return FrameworkOptions(**options)


def _check_effects(document: Document, key: Key, given: dict[str, Any], fed: str, device: Device) -> None:
    """Raise InputError for an option that would change nothing, so that no record says what was not so."""
    if given.get("workers") == 0 and "prefetch" in given:
        raise document.input_error(
            (*key, "prefetch"),
            "`prefetch` is what each worker holds ready, and with `workers: 0` there is none; remove one of them.",
        )
    for name in given:
        if name in OF_READING and fed == "synthetic":
            raise document.input_error(
                (*key, name),
                "`{name}` changes nothing with `input: synthetic`, which reads and decodes nothing; remove this line.",
                name=name,
            )
    if given.get("pin_memory") and device.kind != "cuda":
        raise document.input_error(
            (*key, "pin_memory"),
            "`pin_memory: true` changes nothing on this device, to which no batch is copied; remove this line, or "
            "write `device: cuda:0`.",
        )
    if given.get("compile") and device.kind == "emulated":
        raise document.input_error(
            (*key, "compile"),
            "`compile: true` changes nothing on an emulated GPU, which waits and computes nothing; remove this line.",
        )
