"""The `options` of a workload in a study file: read, and refused where its framework or device lacks one."""

from __future__ import annotations

from typing import Any

from sizer.records.device import Device
from sizer.records.framework_options import OF_FRAMEWORK, OF_IMAGES, WITHOUT, FrameworkOptions
from sizer.records.kinds import LANGUAGE, PREPROCESSING
from sizer.study.document import Document, Key
from sizer.study.without_effect import check_options


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
        check_options(document, key, entry, device)
    if given.get("precision") == "fp16" and device.kind == "cpu":
        raise document.input_error(
            (*key, "precision"), "fp16 needs a GPU; write `precision: bf16`, or `device: cuda:0`."
        )
    options = {name: value for name, value in given.items() if name in has and name != "precision"}
    return FrameworkOptions(**options)
