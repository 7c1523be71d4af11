"""The names of machines, accelerators and CPUs in cells, and how many a cell counts: `8x V100`, `2x p4d.24xlarge`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sizer.catalog.gpus import GPU_MEMORY_GB, read_gpu_name
from sizer.exchange.values import NO_GPU
from sizer.records.domains import LONGEST_NAME

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
