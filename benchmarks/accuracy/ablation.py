"""What each form and step of the model is for: left out by itself, how much worse is sizer on what was left out?

    python benchmarks/accuracy/ablation.py [--size middle] [--without NAME[+NAME ...] ...] [--kept FILE] [--processes 2]
    python benchmarks/accuracy/ablation.py --only NAME [...] [--source KIND ...] --cases N [--processes 2]

The first prints how much each figure of each family of cases changes, in percentage points, and a dot where leaving the
part out changed nothing; the second draws N more cases in which NAME says something (`ablation_more.py`).

A change is shown, in bold, where chance does not explain it: the cases are drawn again 1,000 times, for both models
alike, and in 99 of 100 draws it has the same sign; and where it counts: LEAST points of an error, or LEAST_SHARE of a
share. Only the cases in which a part says something are judged again without it. What was judged is kept in FILE, and
not judged again; a changed model needs a new one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "answers"))
sys.path.append(str(Path(__file__).parents[1] / "choosing"))
sys.path.append(str(Path(__file__).parents[1] / "curves"))
sys.path.append(str(Path(__file__).parents[1] / "grid"))

import numpy as np
from ablation_cases import FAMILIES, SIZES, Judge, Outcome, cases
from ablation_more import SOURCES, Both, by_source, more_cases
from ablation_parts import WHOLE, parts, touched
from numpy.typing import NDArray

Array = NDArray[np.float64]
DRAWS = 1000
SURE = 0.99
LEAST, LEAST_SHARE = 0.1, 0.5
"""Percentage points by which an error, or a share, must change to be shown."""
FIGURES = ("median", "90th", "covered", "right", "named", "agrees")
JUDGES: list[Judge] = []
"""All cases, made before the processes that judge them begin."""
TOGETHER = "+"
"""Between the names of parts that are left out together."""


@dataclass(frozen=True)
class Case:
    """What one case came to, by family; with the whole model also which parts said something in it."""

    outcomes: dict[str, Outcome]
    touched: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Judged:
    """What every case of a family came to, in their order, with one part left out."""

    cases: tuple[Outcome, ...]

    def draw(self, random: np.random.Generator) -> NDArray[np.intp]:
        """As many numbers of cases as there are of each kind."""
        kinds = np.array([each.kind for each in self.cases])
        places = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
        return np.concatenate([random.choice(own, own.size) for own in places])

    def figures(self, drawn: NDArray[np.intp] | None = None) -> Array:
        """FIGURES in percent (6,), of all cases or of those that were drawn; not a number where there is none."""
        chosen = self.cases if drawn is None else [self.cases[number] for number in drawn]
        kinds = sorted({each.kind for each in chosen})
        found: Array = np.mean([_figures([each for each in chosen if each.kind == kind]) for kind in kinds], axis=0)
        return found


def _figures(chosen: Sequence[Outcome]) -> Array:
    errors = np.concatenate([np.array(each.errors, dtype=float) for each in chosen])
    flags = [[flag for each in chosen for flag in getattr(each, name)] for name in FIGURES[2:]]
    found = [float(np.quantile(errors, at)) if errors.size else math.nan for at in (0.5, 0.9)]
    return 100.0 * np.array([*found, *map(_share, flags)], dtype=np.float64)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else math.nan


def judge_whole(number: int) -> Case:
    """A case as the model is."""
    with touched(parts()) as found:
        outcomes = JUDGES[number]()
    return Case(outcomes, frozenset(found))


def judge_without(asked: tuple[int, str]) -> Case:
    """A case with the parts of these names left out."""
    number, names = asked
    with ExitStack() as away:
        for part in parts():
            if part.name in names.split(TOGETHER):
                away.enter_context(part.left_out())
        return Case(JUDGES[number]())


def all_without(names: str, whole: Sequence[Case], pool: Pool) -> list[Case]:
    """Every case; those in which none of the parts said anything are as with the whole model."""
    asked = [number for number, case in enumerate(whole) if case.touched & set(names.split(TOGETHER))]
    again = dict(zip(asked, pool.map(judge_without, [(number, names) for number in asked], chunksize=2), strict=True))
    return [again.get(number, case) for number, case in enumerate(whole)]


def by_family(judged: Sequence[Case]) -> dict[str, Judged]:
    """The cases of each."""
    return {
        family: Judged(tuple(case.outcomes[family] for case in judged if family in case.outcomes))
        for family in FAMILIES
    }


class Kept:
    """What was judged before, in a file of one line for each part that was left out; without a file nothing was."""

    def __init__(self, path: Path | None, size: str) -> None:
        self._path, self._size = path, size
        lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
        found = [json.loads(line) for line in lines]
        self._known = {each["without"]: _read(each["cases"]) for each in found if each["size"] == size}

    def get(self, names: str) -> list[Case] | None:
        return self._known.get(names)

    def add(self, names: str, judged: Sequence[Case]) -> None:
        if self._path is None:
            return
        plain = [[{f: astuple(o) for f, o in case.outcomes.items()}, sorted(case.touched)] for case in judged]
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"size": self._size, "without": names, "cases": plain}) + "\n")


def _read(plain: Sequence[tuple[dict[str, list[Any]], list[str]]]) -> list[Case]:
    return [
        Case({family: _outcome(*one) for family, one in outcomes.items()}, frozenset(names))
        for outcomes, names in plain
    ]


def _outcome(*plain: Any) -> Outcome:
    """The kind is the last."""
    known = zip(("errors", *FIGURES[2:]), map(tuple, plain[:-1]), strict=False)
    return Outcome(**dict(known), kind=plain[-1])


@dataclass(frozen=True)
class Change:
    """Of one figure in percentage points; `low` to `high` is what nine in ten draws of the cases give."""

    figure: str
    by: float
    low: float
    high: float
    shown: bool


def all_changes(whole: Judged, without: Judged) -> list[Change]:
    """What leaving a part out changes of each figure that there is."""
    random = np.random.default_rng(1)
    drawn = [whole.draw(random) for _ in range(DRAWS)] if whole != without else []
    differences = np.array([without.figures(draw) - whole.figures(draw) for draw in drawn]).reshape(-1, len(FIGURES))
    found = []
    for number, (figure, by) in enumerate(zip(FIGURES, without.figures() - whole.figures(), strict=True)):
        known = differences[:, number][~np.isnan(differences[:, number])]
        if known.size:
            sure = max(np.mean(known > 0), np.mean(known < 0)) >= SURE
            counts = abs(by) >= (LEAST if number < 2 else LEAST_SHARE)
            low, high = map(float, np.quantile(known, (0.05, 0.95)))
            found.append(Change(figure, float(by), low, high, bool(sure and counts)))
    return found


def changes(whole: Judged, without: Judged) -> list[str]:
    """What leaving a part out changes of each figure, in words, bold where that is beyond chance."""
    return [marked(f"{each.figure} {each.by:+.1f}", each.shown) for each in all_changes(whole, without)]


def marked(words: str, shown: bool) -> str:
    """Bold where it is shown."""
    return f"**{words}**" if shown else words


def line(name: str, cells: Sequence[str]) -> str:
    """A row of the table, as README has it."""
    return " | ".join(["", name, *cells, ""]).strip()


def more(names: Sequence[str], asked: Sequence[str], cases: int, processes: int) -> None:
    """A row for each part and family of more cases; what is shown beyond chance is bold."""
    print(line("without", ["cases", "family", "the whole model", "change (nine in ten draws)"]))
    print("|---" * 5 + "|")
    with get_context("fork").Pool(processes) as pool:
        for source, own in by_source(names, asked):
            for name, found in more_cases(own, source, cases, pool):
                for family in SOURCES[source].families:
                    print(
                        _row_of(f"{name} ({source})", family, [each for each in found if family in each.whole]),
                        flush=True,
                    )


def _row_of(name: str, family: str, found: Sequence[Both]) -> str:
    whole = Judged(tuple(each.whole[family] for each in found))
    without = Judged(tuple(each.without[family] for each in found))
    if not found:
        return line(name, ["0", family, ".", "."])
    known = [
        f"{marked(f'{each.figure} {each.by:+.2f}', each.shown)} ({each.low:+.2f} to {each.high:+.2f})"
        for each in all_changes(whole, without)
    ]
    return line(name, [str(len(found)), family, _in_words(whole), ", ".join(known) or "."])


def main() -> int:
    asked = _arguments()
    if asked.only:
        more(asked.only, asked.source or [], asked.cases, asked.processes)
        return 0
    kept = Kept(asked.kept, asked.size)
    JUDGES.extend(cases(SIZES[asked.size]))
    print(line("without", ["cases", *FAMILIES]))
    print("|---" * (len(FAMILIES) + 2) + "|")
    with get_context("fork").Pool(asked.processes) as pool:
        whole = kept.get(WHOLE.name)
        if whole is None:
            whole = pool.map(judge_whole, range(len(JUDGES)), chunksize=2)
            kept.add(WHOLE.name, whole)
        all_judged = by_family(whole)
        print(line(WHOLE.name, [str(len(whole)), *(_in_words(all_judged[family]) for family in FAMILIES)]), flush=True)
        for names in asked.without or [part.name for part in parts()]:
            judged = kept.get(names)
            if judged is None:
                judged = all_without(names, whole, pool)
                kept.add(names, judged)
            count = sum(bool(case.touched & set(names.split(TOGETHER))) for case in whole)
            found = by_family(judged)
            cells = [", ".join(changes(all_judged[family], found[family])) or "." for family in FAMILIES]
            print(line(" and ".join(names.split(TOGETHER)), [str(count), *cells]), flush=True)
    return 0


def _in_words(judged: Judged) -> str:
    known = zip(FIGURES, judged.figures(), strict=True)
    return ", ".join(f"{name} {value:.3g}" for name, value in known if not np.isnan(value))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=list(SIZES), default="small", help="how many cases")
    parser.add_argument("--without", action="append", type=_names, help="this part alone, or these together")
    parser.add_argument("--only", action="append", type=_name, help="this part, on more cases in which it speaks")
    parser.add_argument("--source", action="append", choices=list(SOURCES), help="of this kind, with --only")
    parser.add_argument("--cases", type=int, default=60, help="how many of each kind, with --only")
    parser.add_argument("--kept", type=Path, help="a file of what was judged, which grows by what is judged now")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _names(text: str) -> str:
    return TOGETHER.join(map(_name, text.split(TOGETHER)))


def _name(text: str) -> str:
    known = [part.name for part in parts()]
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(known)}")
    return text


if __name__ == "__main__":
    raise SystemExit(main())
