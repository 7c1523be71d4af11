"""What people call the columns of their tables: the header of a spreadsheet -> columns of sizer and the unit it names.

The names are data: `headers.csv` beside this file, whose first lines say how to add one.
"""

from __future__ import annotations

import csv
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from sizer.exchange.measurements import COLUMNS
from sizer.records.notes import NoteKind
from sizer.records.units import RELATIVE

LATENCY = "latency_p50_ms"
RATED_BY = {
    "seconds_per_epoch": ("dataset_samples", NoteKind.RATE_FROM_EPOCHS),
    "seconds_per_batch": ("batch_size", NoteKind.RATE_FROM_BATCHES),
    "seconds_per_sample": (None, NoteKind.RATE_FROM_SAMPLES),
    LATENCY: ("batch_size", NoteKind.RATE_FROM_BATCHES),
}
"""Times from which a rate follows where a table has none, each with the column that says of how many samples."""
TIMES = tuple(RATED_BY)[:3]
LATENCIES = (LATENCY, "latency_p99_ms")
BATCH_PER_GPU = "batch_size_per_gpu"
"""The batch of one accelerator: `batch_size` is that times `gpu_count`."""
GPUS_PER_NODE = "gpus_per_node"
"""The accelerators of each of several machines, where another column has those of all."""
GPU_MEMORY = "gpu_memory_gb"
"""What tells an A100 of 40 GB from one of 80 where its name does not."""
RATE_UNIT = "rate_unit"
"""The unit of the rates beside it, such as images/min."""
OF_ONE_GPU = {"usd_per_gpu_hour": "usd_per_hour", "usd_per_gpu_hour_spot": "usd_per_hour_spot"}
"""The price of one accelerator with its part of the machine, by the column of what the whole machine costs."""
FURTHER = (*TIMES, BATCH_PER_GPU, GPUS_PER_NODE, GPU_MEMORY, RATE_UNIT, *OF_ONE_GPU, "input_size")
"""Columns that measurements.csv does not have, since others follow from them."""
OF_NODES = ("gpu_count", "vcpus", "memory_gib", "usd_per_hour", "usd_per_hour_spot")
"""Columns of which a table may have what each of several machines has, or what all of them have."""
UNSAID = "?"
"""The unit of a header that says none, where it could be another than the usual one."""
AN_HOUR = "an hour"
"""Where a price that does not say so is one of an hour."""

_WHOSE = {
    "node": re.compile(r"\bper (?:node|machine|instance|host|server|vm)\b|每(?:个?节点|台机器|台|机)|单机|单节点"),
    "all": re.compile(r"\b(?:in )?total\b|\boverall\b|总"),
}
_PER_GPU = re.compile(r"\bper (?:gpu|device|accelerator|card)\b")


@dataclass(frozen=True)
class Meaning:
    """The column of sizer that a header means.

    `unit` is that of a number without one in its cells (`GB`, `ms`), `sample_unit` what a rate counts. `inverse`: its
    cells say how many of that time there are in one `unit`. `per_gpu`: the rate of one accelerator. `of`: `node` where
    the figure is that of each of several machines, `all` that of all of them. `where`: what has to hold of the table.
    """

    column: str
    unit: str = ""
    sample_unit: str = ""
    inverse: bool = False
    per_gpu: bool = False
    of: str = ""
    where: tuple[str, ...] = ()

    @property
    def derived(self) -> bool:
        """Whether it is read only where nothing says the throughput itself."""
        return self.column in TIMES or self.sample_unit == RELATIVE


@cache
def names(kind: str) -> Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]:
    """By name in a list of `headers.csv` what it means, and where only."""
    names_of: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    text = Path(__file__).with_name("headers.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        where = tuple(row["only where"].split("; ")) if row["only where"] else ()
        for name in row["names"].split("; ") if row["list"] == kind else ():
            names_of.setdefault(name, []).append((row["means"], where))
    return names_of


def word(kind: str, text: str) -> str:
    """What a word of a list means: `image` for `imgs` in `sample`; empty for one that is not in it."""
    return names(kind).get(text.lower(), [("", ())])[0][0]


def meaning(header: str) -> Meaning | None:
    """What a header means in any table; None where that is not known, or depends on the table."""
    return next((meaning for meaning in meanings(header) if not meaning.where), None)


@lru_cache(maxsize=4096)
def meanings(header: str) -> tuple[Meaning, ...]:
    """What a header may mean, the first one of which holds whose `where` does; none for one that is not known."""
    plain = _plain(header)
    if named := _named(plain):
        return named
    for of, form in _WHOSE.items():
        rest = " ".join(form.sub(" ", plain, count=1).split())
        one = "gpu count" if rest in ("gpu", "accelerator") else rest
        named = _named(one) if rest not in (plain, "") else ()
        # The price of a whole job may be a total, too.
        whole = [meaning for meaning in named or _price(rest) if meaning.column in OF_NODES]
        whole = [meaning for meaning in whole if of == "node" or AN_HOUR not in meaning.where]
        if whole and rest != plain:
            return tuple(replace(meaning, of=of) for meaning in whole)
    return tuple(_composed(plain) or _price(plain))


def map_option(header: str, means: str) -> str:
    """What to type for a header that means another column; nothing as `means` leaves the column unread."""
    return f"--map {shlex.quote(f'{header}={means}')}"


def _plain(header: str) -> str:
    """Words in lower case with one space between them; `/` is read as `per`, `#` as `num`."""
    text = unicodedata.normalize("NFKC", header).lower().replace("/", " per ").replace("#", " num ")
    return " ".join(re.sub(r"[_\-()\[\]{},:;.*†‡§]", " ", text).split()).replace("num of ", "num ")


def _named(plain: str) -> tuple[Meaning, ...]:
    """By a column's own name, or those of `headers.csv`, with or without a unit behind them."""
    own = [Meaning(name) for name in (*COLUMNS, *TIMES, BATCH_PER_GPU) if _plain(name) == plain]
    direct = [meaning for means, where in names("column").get(plain, ()) for meaning in _meant(means, where)]
    if own or direct:
        direct = [replace(meaning, unit=UNSAID) if meaning.column in LATENCIES else meaning for meaning in direct]
        return (
            *(meaning for meaning in direct if meaning.where),
            *own,
            *(meaning for meaning in direct if not meaning.where),
        )
    base, _, last = plain.rpartition(" ")
    kinds = dict.fromkeys(LATENCIES, "time") | dict.fromkeys(("memory_gib", GPU_MEMORY), "bytes")
    timed = [meaning for means, where in names("column").get(base, ()) for meaning in _meant(means, where)]
    return tuple(
        replace(meaning, unit=unit)
        for meaning in timed
        if meaning.column in kinds and (unit := word(kinds[meaning.column], last))
    )


def _meant(means: str, where: tuple[str, ...]) -> list[Meaning]:
    if means == RELATIVE:
        return [Meaning("throughput", sample_unit=RELATIVE, where=where)]
    if means in COLUMNS or means in FURTHER:
        return [Meaning(means, where=where)]
    return list(meanings(means))


def _spaced(plain: str, *kinds: str) -> list[str]:
    """The words of a header, also where they are Chinese and nothing stands between them."""
    spelt = sorted((name for kind in kinds for name in names(kind) if not name.isascii()), key=len, reverse=True)
    return re.sub("|".join(spelt), r" \g<0> ", plain).split()


def _composed(plain: str) -> list[Meaning]:
    """A rate or a time by its words: `training throughput (images/min)`, `ms/step`, `mean step time`."""
    rest = _PER_GPU.sub(" ", plain)
    per_gpu = rest != plain
    parts = [part for part in _spaced(rest, "word", "sample", "time") if word("word", part) != "which"]
    named = _named(" ".join(parts)) if parts and " ".join(parts) != plain else ()
    if named:
        rates = [replace(meaning, per_gpu=True) for meaning in named if meaning.column == "throughput"]
        return rates if per_gpu else list(named)
    text = " ".join(word("sample", part) or word("time", part) or word("word", part) or part for part in parts)
    rate = re.fullmatch(r"(?:rate )?(?P<what>\w+) per (?P<unit>\w+)", text)
    if rate and word("time", rate["unit"]) and word("sample", rate["what"]):
        return [Meaning("throughput", unit=rate["unit"], sample_unit=rate["what"], per_gpu=per_gpu)]
    times = {"epoch": "seconds_per_epoch", "batch": "seconds_per_batch"}
    if rate and word("time", rate["unit"]) and rate["what"] in times and not per_gpu:
        return [Meaning(times[rate["what"]], unit=rate["unit"], inverse=True)]
    time = re.fullmatch(r"(?P<unit>\w+) per (?P<what>\w+)(?: (?P<behind>\w+))?", text) or re.fullmatch(
        r"(?P<what>\w+) (?P<unit>time|s)(?: (?P<behind>\w+))?", text
    )
    if not time or per_gpu or (time["unit"] != "time" and not word("time", time["unit"])):
        return []
    unit = time["behind"] or (UNSAID if time["unit"] == "time" else time["unit"])
    column = times.get(time["what"]) or ("seconds_per_sample" if word("sample", time["what"]) else "")
    return [Meaning(column, unit=unit)] if column and (unit == UNSAID or word("time", unit)) else []


def _price(plain: str) -> list[Meaning]:
    """The price of an hour in USD, by its words; one in another currency, or of something else, is none."""
    parts = _spaced(plain, "price")
    kinds = {word("price", part) for part in parts}
    chinese = not plain.isascii()
    if "" in kinds or not kinds & {"price", "cost", "usd"} or (chinese and "usd" not in kinds):
        return []
    if "hour" not in kinds and ("price" not in kinds or chinese):
        return []
    if "gpu" in kinds and ("hour" not in kinds or not re.search(r"\bper gpu\b|\bgpu (?:h|hrs?|hours?)\b", plain)):
        # `GPU price` may be that of all of them, and `price per GPU` that of buying one.
        return []
    column = ("usd_per_gpu_hour" if "gpu" in kinds else "usd_per_hour") + ("_spot" if "spot" in kinds else "")
    return [Meaning(column, where=() if "hour" in kinds else (AN_HOUR,))]
