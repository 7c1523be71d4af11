"""What a study file says of a program that is the user's own: its words, its variables and how its log is read."""

from __future__ import annotations

import re
import shlex
from typing import Any

from sizer.records.errors import InputError
from sizer.records.kinds import COMMAND
from sizer.records.log_patterns import compiled, known_log
from sizer.records.own_programs import PLACEHOLDERS, Variable, placeholders_in
from sizer.records.study import Workload
from sizer.study.document import Document, Key


def read_command(document: Document, key: Key, command: str | list[Any] | None) -> tuple[str, ...]:
    """The words of a command: of a list as they are spelled in the file, of a line as a shell splits it.

    Raises InputError for one without a program.
    """
    if command is None:
        return ()
    if isinstance(command, list):
        places: list[Key] = [(*key, index) for index in range(len(command))]
        program, *others = (document.texts[place] for place in places)
        return _located(document, key, program), *others
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise document.input_error(
            key, "`{name}` cannot be split into words ({error}); write it as a list.", name=key[-1], error=error
        ) from None
    if not words:
        raise document.input_error(key, "`{name}` has no words; write the program and its arguments.", name=key[-1])
    return _located(document, key, words[0]), *words[1:]


def _located(document: Document, key: Key, program: str) -> str:
    """A program by its path lies where the study file says; one by its name alone is looked for in PATH, as ever."""
    if not program or program.startswith("-"):
        # A shell's `exec` takes it for an option of its own.
        raise document.input_error(
            key,
            "`{name}` begins with `{program}`, which is not a program; begin with one.",
            name=key[-1],
            program=program,
        )
    return document.locate(program) if "/" in program and program[0] not in "/{" else program


def read_variables(document: Document, key: Key, values: dict[str, Any]) -> tuple[Variable, ...]:
    """The variables as they are spelled in the file."""
    places: dict[str, Key] = {name: (*key, name) for name in values}
    return tuple(
        Variable(name, None if value is None else document.texts[places[name]]) for name, value in values.items()
    )


def check_pattern(document: Document, key: Key, pattern: str) -> None:
    """Raise InputError for what is neither a regular expression nor the name of a known log."""
    if known_log(pattern) is not None:
        return
    try:
        compiled(pattern)
    except InputError as error:
        raise document.input_error(key, error) from None
    except (OverflowError, RecursionError):
        raise document.input_error(
            key, "`pattern` is too large for a regular expression; write a simpler one."
        ) from None


def check_cache(document: Document, key: Key, entry: dict[str, Any]) -> None:
    """Raise InputError for input in memory: nobody but a command itself knows how to read its data into it."""
    for name, value in (("input", "cached"), ("cache", "warm")):
        if entry.get(name) == value and not document.resolved:
            raise document.input_error(
                (*key, name),
                "`{name}: {value}` does not work with a command; remove this line, and let the command read its data "
                "once before its first step.",
                name=name,
                value=value,
            )


def check_placeholders(
    document: Document,
    key: Key,
    entry: dict[str, Any],
    workload: Workload,
    batch_sizes: tuple[int, ...],
    gpu_counts: tuple[int, ...],
) -> None:
    """Raise InputError for one that cannot be filled in, and for a batch size or count that the command is never told.

    `entry` is what the file says of the workload. A study that sizer wrote may be of a time without placeholders.
    """
    if workload.kind != COMMAND or document.resolved:
        return
    used = placeholders_in(workload.run_words)
    if "data" in used and workload.data is None:
        raise document.input_error(
            key, "{placeholder} is used, and the workload has no `data`; write where it lies.", placeholder="{data}"
        )
    if len(batch_sizes) > 1 and "batch_size" not in used:
        raise document.input_error(
            (*key, "batch_size"),
            "the command is not told which of the batch sizes to use; write {placeholder} among its words or in `env`, "
            "or give one batch size.",
            placeholder="{batch_size}",
        )
    if len(gpu_counts) > 1 and "gpu_count" not in used:
        raise document.input_error(
            (*key, "axes"),
            "the command is not told how many accelerators to use; write {placeholder} among its words or in `env`, "
            "or give one `gpu_count`.",
            placeholder="{gpu_count}",
        )
    if entry.get("largest_batch") and "batch_size" not in used:
        raise document.input_error(
            (*key, "largest_batch"),
            "the command is not told which batch size to try; write {placeholder} among its words or in `env`.",
            placeholder="{batch_size}",
        )
    early = placeholders_in(workload.setup)
    if early:
        raise document.input_error(
            (*key, "setup"),
            "`setup` is run once for all runs, so it has no {placeholder}; use it in `before`, or remove it.",
            placeholder=f"{{{min(early)}}}",
        )
    for word in workload.run_words:
        for name in re.findall(r"(?<![{$])\{([A-Za-z_ -]+)\}", word):
            known = name.strip().lower().replace("-", "_")
            if name not in PLACEHOLDERS and known in PLACEHOLDERS:
                raise document.input_error(
                    key, "`{name}` is not a placeholder; write {known}.", name=f"{{{name}}}", known=f"{{{known}}}"
                )
