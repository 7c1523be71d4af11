"""The forms and steps of the model by name, and how sizer does without each: from outside, the model knows of none.

A part is left out by putting something else in the place of one name of one module, as long as it is away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

from sizer.model import evidence, families, fitting, prediction, scaling_prior
from sizer.model.model import NORMAL_90, MeasuredRange, Structure, WorkloadModel
from sizer.model.scaling import FORMS
from sizer.records import Configuration

Kept = Callable[[Structure, MeasuredRange], Structure | None]
"""A structure as it is without the part; None where there is none."""
Says = Callable[..., Any]
"""A function of the model."""


@dataclass(frozen=True)
class Replaced:
    """One name of a module, and what is there instead, given what was there."""

    module: ModuleType
    name: str
    by: Callable[[Any], Any]


@dataclass(frozen=True)
class Part:
    """A form or a step of the model."""

    name: str
    replaced: tuple[Replaced, ...]

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """As long as this lasts sizer is without it, in this process."""
        with ExitStack() as away:
            for each in self.replaced:
                there = getattr(each.module, each.name)
                away.enter_context(patch.object(each.module, each.name, each.by(there)))
            yield


WHOLE = Part("the whole model", ())
ODDS, YIELDS = "odds of forms", "yields by kind of work, and no line with them"
LINE = "linear, of three values and more"
"""With fewer there is no other form."""
OF_VCPUS = frozenset({*FORMS, LINE, "cap", ODDS}) - {"linear", "paired"}
"""The parts that a curve over vCPUs alone can tell of."""
OF_PAIRS = frozenset({"paired", YIELDS})
"""Those that speak only where the host said which vCPUs share a core."""


@contextmanager
def touched(asked: Sequence[Part]) -> Iterator[set[str]]:
    """The names of the parts without which, as long as this lasts, some function would have said something else.

    Where a part is not among them in the end, all would have been the same without it. A constant always is.
    """
    places: dict[tuple[ModuleType, str], dict[str, Callable[[Any], Any]]] = defaultdict(dict)
    for part in asked:
        for each in part.replaced:
            places[each.module, each.name][part.name] = each.by
    found: set[str] = set()
    with ExitStack() as away:
        for (module, name), by in places.items():
            there = getattr(module, name)
            if callable(there):
                without = {part: instead(there) for part, instead in by.items()}
                away.enter_context(patch.object(module, name, _watched(there, without, found)))
            else:
                found.update(by)
        yield found


def _watched(
    there: Callable[..., Any], without: Mapping[str, Callable[..., Any]], found: set[str]
) -> Callable[..., Any]:
    def watched(*given: Any) -> Any:
        said = _whole(there(*given))
        found.update(part for part, other in without.items() if part not in found and _whole(other(*given)) != said)
        return said

    return watched


def _whole(said: Any) -> Any:
    return list(said) if isinstance(said, Iterator) else said


def parts() -> list[Part]:
    """Every one that is left out by itself."""
    return [*_forms(), *_memory_forms(), *_steps()]


def _forms() -> list[Part]:
    """How the CPU scales, and what else a structure may have."""

    def no(form: str) -> Part:
        return _structures(form, lambda each, _: None if each.scaling == form else each)

    def line(each: Structure, measured: MeasuredRange) -> Structure | None:
        return None if each.scaling == "linear" and len(measured.vcpus) >= scaling_prior.FEWEST else each

    return [
        _structures(LINE, line),
        *(no(form) for form in FORMS if form != "linear"),
        _structures("cap", lambda each, _: None if each.capped else each),
        _structures("blocking", lambda each, _: None if each.blocking else each),
        _structures("quota factor", lambda each, _: replace(each, quota=False)),
    ]


def _memory_forms() -> list[Part]:
    def jump(each: Structure, measured: MeasuredRange) -> bool:
        return len(each.memory_levels) == 2 < len(measured.memory_bytes)

    def each_cap(acts: str) -> Kept:
        return lambda each, measured: None if acts == _acts(each) and not jump(each, measured) else each

    return [
        _structures("memory: a capacity of each cap", each_cap("limits")),
        _structures("memory: a factor of each cap", each_cap("slows")),
        _structures("memory: reads of each disk", each_cap("misses")),
        _structures("memory: a jump between two caps", lambda each, measured: None if jump(each, measured) else each),
    ]


def _acts(structure: Structure) -> str:
    """How memory counts; nothing where it does not."""
    return structure.memory_acts if structure.memory_levels else ""


def _structures(name: str, kept: Kept) -> Part:
    """Without the forms that have it."""

    def among(original: Callable[..., Any]) -> Callable[..., list[Structure]]:
        def chosen(*given: Any) -> list[Structure]:
            (measured,) = (each for each in given if isinstance(each, MeasuredRange))
            found = (kept(each, measured) for each in original(*given))
            return list(dict.fromkeys(each for each in found if each is not None))

        return chosen

    return Part(name, (Replaced(fitting, "scalings", among), Replaced(fitting, "refinements", among)))


def _steps() -> list[Part]:
    return [
        Part("odds of forms, and their evidence", (_gives(evidence, "cost", 0.0), _is(evidence, "SHAPE", frozenset()))),
        Part(ODDS, (_gives(evidence, "cost", 0.0),)),
        Part(
            YIELDS,
            (
                Replaced(scaling_prior, "yield_of", lambda there: lambda _: there(None)),
                Replaced(families, "forms", lambda there: lambda *given: _with_line(there(*given))),
            ),
        ),
        Part("Gaussian process", (_gives(fitting, "fit_residual", None),)),
        Part("averaging", (_is(fitting, "MEMBERS", 1),)),
        Part("conformal widening", (_gives(fitting, "widening", NORMAL_90),)),
        Part("Student's t", (_gives(fitting, "widening_of_noise", NORMAL_90),)),
        Part("onward", (_gives(prediction, "onward", None),)),
        Part("last doubling", (Replaced(prediction, "split_by_last_doubling", lambda _: _as_it_was),)),
    ]


def _is(module: ModuleType, name: str, value: object) -> Replaced:
    """A constant."""
    return Replaced(module, name, lambda _: value)


def _gives(module: ModuleType, name: str, value: object) -> Replaced:
    """A function that says the same of everything."""
    return _is(module, name, lambda *_: value)


def _as_it_was(_: WorkloadModel, __: Configuration, shares: dict[str, float]) -> dict[str, float]:
    return shares


def _with_line(forms: list[str]) -> list[str]:
    return forms if "linear" in forms else ["linear", *forms]
