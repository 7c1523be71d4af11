"""Cells as people write them, `16 GB`, `1,077*`, `$3.06`, `8x V100`, as the number or name that their column holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum

from sizer.catalog.gpus import GPU_MEMORY_GB, read_gpu_name
from sizer.exchange import headers
from sizer.exchange.measurements import NODES
from sizer.exchange.values import NO_GPU
from sizer.records.domains import LONGEST_NAME
from sizer.records.messages import InputError
from sizer.records.units import GIB, RELATIVE, parse_bytes

RATES = ("throughput", *headers.TIMES)
"""Columns of which a row needs one."""
_INTERVAL = ("throughput_low", "throughput_high")
_COUNTS = {
    "vcpus": re.compile(r"v?cpus?|v?cores?|threads?", re.IGNORECASE),
    "gpu_count": re.compile(r"gpus?|x|×", re.IGNORECASE),
    "dataset_samples": re.compile(r"images?|samples?", re.IGNORECASE),
    **dict.fromkeys(("batch_size", headers.BATCH_PER_GPU, NODES, headers.GPUS_PER_NODE), re.compile("(?!)")),
}
"""What may stand behind a count, and says nothing."""
NUMBERS = frozenset(
    {*RATES, *_INTERVAL, *headers.LATENCIES, *_COUNTS, "memory_gib", *headers.OF_ONE_GPU, *headers.OF_ONE_GPU.values()}
)
"""Columns whose cells may have a unit or separated thousands."""
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_THOUSANDS_OF = {"k": 1e3, "K": 1e3, "万": 1e4, "M": 1e6}
"""What a letter behind a count means: `1.2k` samples. `m` would be thousandths."""

_NUMBER = re.compile(r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>\D.*)?", re.ASCII)
_SHORTENED = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s?(?P<letter>[kKM万])(?![a-zA-Z])\s*(?P<rest>\D*)", re.ASCII)
_PRICE = re.compile(r"(?:US)?\$?\s*([\d.]+)(?:\s*(?:\$|USD))?(?:\s*(?:/|per)\s*(?:h|hr|hour))?\s*", re.IGNORECASE)
_TOLD = re.compile(r"(?<![\d.,])[\d.,]+\s?[kKM]?\s*([a-z]+)\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE)

_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:,\d{3})+)(\.\d+)?(?![\d,])", re.ASCII)
_DECIMALS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d+)(?![\d.,])", re.ASCII)
_ONLY_DECIMALS = re.compile(r"(?<![\d.,])(?:\d+,(?!\d{3}(?!\d))\d+|0,\d+|\d{1,3}(?:\.\d{3})+,\d+)(?![\d.,])", re.ASCII)
_ONLY_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})(?![\d,])", re.ASCII)
_POINT = re.compile(r"(?<![\d.,])\d+\.(?!\d{3}(?!\d))\d+(?![\d.,])", re.ASCII)
_POINTS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3})+(?![\d.,])", re.ASCII)
_COMMA_OF_THREE, _POINT_OF_THREE = (re.compile(rf"[1-9]\d{{0,2}}{mark}\d{{3}}", re.ASCII) for mark in (",", r"\."))
_SPACES = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'\u2019]\d{3})+(?!\d)", re.ASCII)
_BEFORE = re.compile(r"^[~≈]\s*(?=\.?\d)", re.ASCII)
_BEHIND = re.compile(r"(?<=[\w%])\s*(?:[*†‡§¶⁰¹²³⁴-⁹]+|\s\[\w{1,3}\]|\[\d{1,3}\]|\(\w\))$")
_ERROR = re.compile(r"(?<=\d)\s*(?:±|\+/-|\+-).*$")


class Comma(Enum):
    """What a comma in a number separates; UNKNOWN where the table does not show it."""

    THOUSANDS = "thousands"
    DECIMALS = "decimals"
    UNKNOWN = "unknown"


def comma_in(columns: Iterable[Sequence[str]], delimiter: str) -> Comma:
    """What commas separate in the numbers of a table, by the cells of its columns that can only be read in one way.

    Without such cells it is thousands, but between semicolons, which spreadsheets write where a comma is decimal, and
    but where `1,077` and `4.120` stand in one column: no program writes both.
    """
    thousands = decimals = mixed = False
    for cells in columns:
        pointed = any(_ONLY_THOUSANDS.search(text) or _POINT.search(text) for text in cells)
        commas = any(_ONLY_DECIMALS.search(text) for text in cells)
        thousands, decimals = thousands or pointed, decimals or commas
        forms = (any(map(form.fullmatch, cells)) for form in (_COMMA_OF_THREE, _POINT_OF_THREE))
        mixed = mixed or (not pointed and not commas and all(forms))
    if decimals:
        return Comma.UNKNOWN if thousands else Comma.DECIMALS
    return Comma.THOUSANDS if (thousands or delimiter != ";") and not mixed else Comma.UNKNOWN


def with_point(text: str, comma: Comma) -> str:
    """The number in a cell with a decimal point and nothing between its thousands: `1077.5` for `1.077,5`."""
    text = _SPACES.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    if comma is Comma.DECIMALS:
        if "," not in text:
            return _POINTS.sub(lambda match: match[0].replace(".", ""), text)
        return _DECIMALS.sub(lambda match: f"{match[1].replace('.', '')}.{match[2]}", text)
    if comma is Comma.THOUSANDS or _ONLY_THOUSANDS.search(text):
        return _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    return text


def unmarked(text: str) -> str:
    """The figure without what stands around it: `1077` for `1077*`, `219 [1]` and `~219`, `96` for `96 ± 2`."""
    before = None
    while text != before:
        before, text = text, _BEHIND.sub("", _BEFORE.sub("", text)).strip()
    return _ERROR.sub("", text).strip()


def is_not_measured(text: str) -> bool:
    """Whether a cell says that there is no figure: `N/A`, `-`."""
    return bool(headers.word("cell", _words(text)))


def outcome_in(text: str) -> str:
    """How a run ended, where a cell says it in a word: `OOM`, `ok`; empty where it does not."""
    return headers.word("outcome", _words(text))


def _words(text: str) -> str:
    return " ".join(unmarked(text).lower().replace("_", " ").split()).rstrip("!.") or text


def told_rate(text: str) -> str:
    """The rate within a longer cell, `40.7 images/sec` of `79.8 s (2 epochs, 40.7 images/sec)`; empty without one."""
    rates = [rate[0] for rate in _TOLD.finditer(text) if headers.word("sample", rate[1])]
    return rates[0] if len(rates) == 1 and rates[0] != text else ""


def plain(means: headers.Meaning, text: str) -> tuple[str, str]:
    """The number in a cell in the column's own unit, and what a rate in it counts.

    The unit that the column means holds where the cell has none. Text that is no number with a known unit stays as it
    is, for its reader to refuse.
    """
    column = means.column
    if column.startswith("usd_"):
        price = _PRICE.fullmatch(text)
        return (price[1] if price else text), ""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text, ""
    number, own = match["number"], (match["unit"] or "").strip()
    if column == "memory_gib":
        return _gibibytes(number, own or means.unit, text), ""
    if column in headers.TIMES or column in headers.LATENCIES:
        return _time(means, number, own, text), ""
    if own and (column in RATES or column in _INTERVAL or column == "dataset_samples"):
        short = _SHORTENED.fullmatch(text)
        if short is not None:
            whole = float(short["number"]) * _THOUSANDS_OF[short["letter"]]
            return plain(means, f"{whole:.15g} {short['rest']}".strip())
    if column in _COUNTS:
        return (number if _COUNTS[column].fullmatch(own) else text), ""
    if not own:
        return _a_second(number, means.unit), ""
    if own in ("x", "×"):
        return number, RELATIVE
    unit = headers.meaning(own)
    if unit is None or unit.column != "throughput" or not unit.sample_unit or unit.per_gpu or not unit.unit:
        return text, ""
    return _a_second(number, unit.unit), unit.sample_unit


def _gibibytes(number: str, unit: str, text: str) -> str:
    if unit in ("", "GiB"):
        return number
    try:
        return repr(parse_bytes(f"{number} {unit}") / GIB)
    except InputError:
        return text


def _time(means: headers.Meaning, number: str, own: str, text: str) -> str:
    """In the column's unit; as it is where it has that unit already, so that no digit changes."""
    if means.inverse and not own and float(number) > 0:
        return f"{SECONDS[means.unit] / float(number):.15g}"
    usual = "s" if means.column in headers.TIMES else "ms"
    unit = headers.word("time", own or means.unit.replace(headers.UNSAID, "") or usual)
    factor = SECONDS[unit] / SECONDS[usual] if unit else 0.0
    return text if not unit else number if factor == 1 else f"{float(number) * factor:.15g}"


def _a_second(number: str, unit: str) -> str:
    """A rate in so much time as one a second; as it is where it is one, so that no digit changes."""
    return number if unit in ("", "s") else f"{float(number) / SECONDS[unit]:.15g}"


_COUNTED = (
    re.compile(r"(?P<count>\d{1,5})\s*(?:x\s*|[×*]\s*)(?P<name>[A-Za-z].*)", re.ASCII),
    re.compile(r"(?P<name>[A-Za-z].*?)(?<=\S)(?:\s+x\s*|\s*[×*]\s*|\s*\([x×]\s*)(?P<count>\d{1,5})\)?", re.ASCII),
)
_SPREAD = (
    re.compile(r"(?P<name>[A-Za-z][\w -]*?)\s*(?P<nodes>[单双两一二三四]|\d+)(?:机|节点)\s*(?P<each>[单双]|\d+)卡.*"),
    re.compile(
        r"(?P<nodes>\d+)(?:\s*(?:nodes?|machines?|servers?))?\s*[x×*]\s*\(?(?P<each>\d+)(?:\s*[x×*]\s*|\s+)(?!GB)"
        r"(?P<name>[A-Za-z].*?)\)?"
    ),
)
_NUMERALS = {"单": 1, "一": 1, "双": 2, "两": 2, "二": 2, "三": 3, "四": 4}
_MACHINES = (
    re.compile(
        r"(?P<count>\d{1,4})(?:\s*[x×*]\s*(?P<any>\S.*?)|\s+(?P<name>(?=\S*\d)(?=\S*[._-])[A-Za-z]\S+))"
        r"(?:\s+(?:nodes?|instances?|machines?|vms?|hosts?))?(?:\s*\(.*\))?"
    ),
    re.compile(r"(?P<any>\S.*?)(?:\s+|\s*\()[x×*]\s*(?P<count>\d{1,4})\)?(?P<name>)"),
)
_PLAIN_CPU = re.compile(r"cpu(?::\d+)?", re.IGNORECASE)
_MAKERS = r"xeon\b(?!.*\bphi\b)|epyc\b|opteron\b|ryzen\b|threadripper\b|core i\d|core ultra\b|graviton\d?\b"
"""What makers call their CPUs counts without the word, too; a Xeon Phi may be a card."""
_CPUS = (
    re.compile(r"(?:(?:intel|amd|arm)\s+)?cpus?\b[\s:,(\[-]+(?P<name>[^\s:,(\[-].*?)[)\]]?", re.IGNORECASE),
    re.compile(rf"(?P<name>(?:\d+\s*[x×*]\s*)?(?:(?:intel|amd|aws)\W+)?(?:{_MAKERS})[^+/&]*)", re.IGNORECASE),
)
_GIGABYTES = re.compile(r"(\d{1,3})(?:\.0+)?\s*(?:gi?b?)?", re.IGNORECASE)


def _match(forms: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return (
        next((match for form in forms if (match := form.fullmatch(text))), None) if len(text) <= LONGEST_NAME else None
    )


def spread_gpus(text: str) -> tuple[str, str] | None:
    """How many machines a cell of GPUs counts, and the GPUs of each: of `2x8 A100` and `A100两机8卡` 2 and 8."""
    spread = _match(_SPREAD, text)
    if spread is None:
        return None
    nodes, gpus = (str(_NUMERALS.get(spread[group]) or int(spread[group])) for group in ("nodes", "each"))
    return nodes, gpus


def counted(text: str) -> tuple[str, str] | None:
    """The name and the count of GPUs: of `8x V100`, `4×A100-80GB`, `V100 x8`; None where a cell has no count.

    Of several machines, as in `2x8 A100`, that is the count of all.
    """
    spread, match = spread_gpus(text), _match(_SPREAD, text)
    if spread is not None and match is not None:
        return match["name"].strip(), str(int(spread[0]) * int(spread[1]))
    match = _match(_COUNTED, text)
    return (match["name"].strip(), match["count"]) if match else None


def counted_machines(text: str) -> tuple[str, str] | None:
    """The name and the count of machines: of `2x p4d.24xlarge`, `4 g3.16xlarge nodes`, `p4d.24xlarge (x2)`.

    None where it counts none: `8x V100` counts accelerators, and `2x Xeon Gold 6148` the CPUs of one machine.
    """
    match, gpus = _match(_MACHINES, text), counted(text)
    if not match or cpu_in(text) is not None or (gpus and read_gpu_name(gpus[0]).model in GPU_MEMORY_GB):
        return None
    return match["any"] or match["name"], match["count"]


def own_memory(gpu: str, memory: str) -> int | None:
    """The GB in a cell of memory, where they are those of one such GPU."""
    match, (name, _) = _GIGABYTES.fullmatch(memory.strip()), counted(gpu) or (gpu, "")
    size = int(match[1]) if match else 0
    return size if size in GPU_MEMORY_GB.get(read_gpu_name(name).model, ()) else None


def cpu_in(text: str) -> str | None:
    """The name in a cell that says that a CPU computed; empty where it has none, None where the cell says no CPU."""
    if _PLAIN_CPU.fullmatch(text) or (text.lower() in NO_GPU and text.lower().startswith("cpu")):
        return ""
    match = _match(_CPUS, text)
    return match["name"].strip() if match else None
