"""Which values of two axes were measured together: how two axes act on one another is what rates alone cannot tell.

A count of accelerators between two that were measured of its kind counts as if it was measured with what these had.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, permutations
from typing import TypeVar, cast

from sizer.model.coordinates import disk_of
from sizer.records import Configuration

Names = tuple[object, ...]
Span = tuple[float, float]
Key = TypeVar("Key")


class Design:
    """The configurations that were measured, by the axes that were varied: names (disk, accelerator) and numbers."""

    def __init__(self, rows: Sequence[Configuration], names: Sequence[str], numbers: Sequence[str]) -> None:
        self.names, self.numbers = tuple(names), tuple(numbers)
        self._of = [_OF[name] for name in names]
        self._accelerators = names.index("accelerators") if "accelerators" in names else None
        self._pairs = {self._names_of(row) for row in rows}
        self._vcpus: dict[Names, set[float | None]] = defaultdict(set)
        self._with_name: dict[tuple[int, object, str], Span] = {}
        self._at: dict[tuple[str, float, str], Span] = {}
        values: dict[str, set[float]] = {number: set() for number in numbers}
        for row in rows:
            self._vcpus[self._names_of(row)].add(row.vcpus)
            known = {number: value for number in numbers if (value := getattr(row, number)) is not None}
            for number, value in known.items():
                values[number].add(value)
                for place, of in enumerate(self._of):
                    _widen(self._with_name, (place, of(row), number), value)
            for one, other in permutations(known, 2):
                _widen(self._at, (one, known[one], other), known[other])
        self._values = {number: sorted(found) for number, found in values.items()}

    def together(self, configuration: Configuration) -> bool:
        """Whether each two of its values lie within what was measured together.

        Two names were if some run had both; a name and a number if the number lies between those that were measured
        with the name; two numbers if one lies between those that were measured at the other, or at its nearest
        measured neighbours. A number that is not known decides nothing.
        """
        known = {number: value for number in self.numbers if (value := getattr(configuration, number)) is not None}
        names = self._measured_names(configuration)
        return (
            bool(names)
            and all(
                _inside(value, self._spans_with(names, place, number))
                for number, value in known.items()
                for place in range(len(self._of))
            )
            and all(
                any(_inside(known[other], self._spans(one, known[one], other)) for one, other in permutations(pair))
                for pair in self._pairs_of_numbers(known, names)
            )
        )

    def moves(self, configuration: Configuration) -> dict[str, tuple[float, float]] | None:
        """By number the nearest value that was measured with its names and its other numbers, and its own value.

        Only those that differ. None where its names were never measured together, or with none of a number's values.
        """
        names = self._measured_names(configuration)
        if not names:
            return None
        known = {number: value for number in self.numbers if (value := getattr(configuration, number)) is not None}
        found: dict[str, tuple[float, float]] = {}
        for number, value in known.items():
            for place in range(len(self._of)):
                spans = [span for span in self._spans_with(names, place, number) if span is not None]
                if not spans:
                    return None
                if not _inside(value, spans):
                    found[number] = (_nearest(value, _joined(spans)), value)
        for pair in self._pairs_of_numbers(known, names):
            if any(_inside(known[other], self._spans(one, known[one], other)) for one, other in permutations(pair)):
                continue
            for one, other in permutations(pair):
                for span in filter(None, self._spans(one, known[one], other)):
                    found.setdefault(other, (_nearest(known[other], span), known[other]))
        return found

    def vcpus_with(self, configuration: Configuration) -> set[float | None]:
        """The vCPUs that were measured with its names."""
        return self._vcpus.get(self._names_of(configuration), set())

    def _names_of(self, configuration: Configuration) -> Names:
        return tuple(of(configuration) for of in self._of)

    def _measured_names(self, configuration: Configuration) -> list[Names]:
        """Its names, if a run had them; for a count between two of its kind theirs; none otherwise."""
        own = self._names_of(configuration)
        if own in self._pairs:
            return [own]
        place, count = self._accelerators, configuration.gpu_count
        if place is None or count is None:
            return []
        alike = {}
        for names in self._pairs:
            gpu, other = cast(tuple[str | None, int | None], names[place])
            if gpu == configuration.gpu and other and names[:place] == own[:place]:
                alike[other] = names
        below = [other for other in alike if other < count]
        above = [other for other in alike if other > count]
        return [alike[max(below)], alike[min(above)]] if below and above else []

    def _pairs_of_numbers(self, known: Iterable[str], names: Sequence[Names]) -> Iterable[tuple[str, str]]:
        """None between two counts: what lies between two machines in each number is held by these two."""
        return combinations(known, 2) if len(names) == 1 else ()

    def _spans_with(self, names: Iterable[Names], place: int, number: str) -> list[Span | None]:
        """What was measured of a number with each of these."""
        return [self._with_name.get((place, each[place], number)) for each in names]

    def _spans(self, one: str, value: float, other: str) -> list[Span | None]:
        """What was measured of another axis at this value, or at its nearest measured neighbours."""
        values = self._values[one]
        place = bisect_left(values, value)
        near = [value] if values[place : place + 1] == [value] else values[max(0, place - 1) : place + 1]
        return [self._at.get((one, each, other)) for each in near]


def _accelerators(configuration: Configuration) -> tuple[str | None, int | None]:
    return configuration.gpu, configuration.gpu_count


_OF: dict[str, Callable[[Configuration], object]] = {"disk": disk_of, "accelerators": _accelerators}


def _widen(spans: dict[Key, Span], key: Key, value: float) -> None:
    low, high = spans.get(key, (value, value))
    spans[key] = (min(low, value), max(high, value))


def _nearest(value: float, span: Span) -> float:
    return min(max(value, span[0]), span[1])


def _inside(value: float, spans: Iterable[Span | None]) -> bool:
    """Whether it lies within all of them taken as one."""
    known = [span for span in spans if span is not None]
    if not known:
        return False
    low, high = _joined(known)
    return low <= value <= high


def _joined(spans: Sequence[Span]) -> Span:
    return min(low for low, _ in spans), max(high for _, high in spans)
