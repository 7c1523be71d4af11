"""What people and drivers call one accelerator: `NVIDIA A100-SXM4-80GB`, `a100 (80 GB)` and `A100-80GB` are one."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

PCIE = "PCIe"
SXM = "SXM"

GPU_MEMORY_GB = {
    "K40m": (12,),
    "K80": (12,),
    "Titan X (Maxwell)": (12,),
    "Titan X (Pascal)": (12,),
    "M40": (12, 24),
    "M60": (8,),
    "P4": (8,),
    "P40": (24,),
    "P100": (12, 16),
    "V100": (16, 32),
    "V100S": (32,),
    "T4": (16,),
    "T4G": (16,),
    "Quadro RTX 8000": (48,),
    "RTX 2080 Ti": (11,),
    "GTX 1080 Ti": (11,),
    "GTX 1080": (8,),
    "A10": (24,),
    "A10G": (24,),
    "A30": (24,),
    "A40": (48,),
    "RTX A6000": (48,),
    "RTX 3080": (10, 12),
    "RTX 3090": (24,),
    "RTX 4090": (24,),
    "RTX 5090": (32,),
    "RTX 6000 Ada": (48,),
    "A100": (40, 80),
    "L4": (24,),
    "L40": (48,),
    "L40S": (48,),
    "RTX-PRO-4500": (32,),
    "RTX-PRO-SERVER-6000": (96,),
    "H100": (80,),
    "GH200": (96, 144),
    "H200": (141,),
    "B200": (180, 192),
    "B300": (288,),
    "MI100": (32,),
    "MI250": (128,),
    "MI250X": (128,),
    "MI300X": (192,),
    "MI325X": (256,),
    "MI355X": (288,),
    "Gaudi2": (96,),
    "Gaudi3": (128,),
}
"""By the name that price lists have, the sizes of its memory by the makers' data sheets."""
_ONE_PRODUCT = ("P100", "B200")
"""Models whose second size is another way to count it, or was hardly sold: their memory makes no other accelerator."""
_ALSO_CALLED = {
    **dict.fromkeys(("k40", "k40c", "k40s", "k40t"), "K40m"),
    **dict.fromkeys(("gtxtitanx", "gtxtitanxmaxwell", "maxwelltitanx"), "Titan X (Maxwell)"),
    **dict.fromkeys(("pascaltitanx", "gtxtitanxpascal"), "Titan X (Pascal)"),
    "1080": "GTX 1080",
    "1080ti": "GTX 1080 Ti",
    "2080ti": "RTX 2080 Ti",
    "rtx2080ti": "RTX 2080 Ti",
    "3080": "RTX 3080",
    "3090": "RTX 3090",
    "4090": "RTX 4090",
    "5090": "RTX 5090",
    "a6000": "RTX A6000",
    "rtx6000adageneration": "RTX 6000 Ada",
    "rtx8000": "Quadro RTX 8000",
    **dict.fromkeys(
        ("rtxpro6000", "rtxpro6000se", "rtxpro6000blackwell", "rtxpro6000blackwellserveredition"), "RTX-PRO-SERVER-6000"
    ),
    "rtxpro4500blackwellserveredition": "RTX-PRO-4500",
    **dict.fromkeys(("v100dgxs", "v100h"), "V100"),
    "h100mega": "H100",
    "hl225": "Gaudi2",
    "hl325": "Gaudi3",
}
_IGNORED = re.compile(
    r"nvidia|tesla|geforce|quadro|grid|amd|instinct|intel|habana|corporation|gpus?|tensor|core|graphics|hbm\d?e?|gddr\d\w?|oam"
)
_FORMS = ((SXM, re.compile(r"sxm\d?")), (PCIE, re.compile(r"pcie?")))
_MEMORY = re.compile(r"(?<![a-z\d.])\(?(\d{1,3}(?:\.\d)?)\s*(?:gi?b|g)(?![a-z\d.])\)?")
SAME_MEMORY = 0.1
"""A GPU of 24 GB by its maker has 22.4 GiB in a list, and one of 40 GB 37.25 GiB."""
SPACE = re.compile(r"[\s_\-/,()]+")


@dataclass(frozen=True)
class GpuName:
    """What a name says: the model, the memory of one in GB, and the form (PCIe or SXM); None or empty where unsaid.

    `key` is alike for all names of a model. `model` is empty for one that is not known by its name.
    """

    key: str
    model: str
    memory_gb: float | None
    form: str

    @property
    def name(self) -> str:
        """As price lists call it, with the memory where the model is sold with two sizes; empty if it is not known."""
        if not self.model or self.memory_gb is None:
            return self.model
        sizes = GPU_MEMORY_GB[self.model]
        size = next((size for size in sizes if is_alike(size, self.memory_gb)), None)
        if size is not None and (len(sizes) == 1 or self.model in _ONE_PRODUCT):
            return self.model
        return f"{self.model}-{size or self.memory_gb:g}GB"


def is_alike(one: float, other: float) -> bool:
    """Whether two sizes of memory are one, counted in GB or GiB."""
    return abs(one / other - 1) < SAME_MEMORY


@lru_cache(maxsize=4096)
def read_gpu_name(text: str) -> GpuName:
    """The parts of a name: without the maker, and in any case and order."""
    plain = unicodedata.normalize("NFKC", text).lower()
    memory = _MEMORY.search(plain)
    words = [word for word in SPACE.split(_MEMORY.sub(" ", plain)) if word]
    form = next((form for form, spelt in _FORMS if any(spelt.fullmatch(word) for word in words)), "")
    named = [word for word in words if not any(spelt.fullmatch(word) for _, spelt in _FORMS)]
    key = "".join(word for word in named if not _IGNORED.fullmatch(word))
    size = float(memory[1]) if memory else None
    if (key, size) == ("gh200", 480):  # what drivers say of it is the memory of its CPU
        size = None
    if key not in _MODELS and memory is None and named and named[-1].isdecimal():
        # `A100 80`, without a unit.
        shorter = key.removesuffix(named[-1])
        if named[-1] in map(str, GPU_MEMORY_GB.get(_MODELS.get(shorter, ""), ())):
            key, size = shorter, float(named[-1])
    model = _MODELS.get(key, "")
    return GpuName(_compact(model) if model else key or plain, model, size, form)


def _compact(name: str) -> str:
    return "".join(word for word in SPACE.split(name.lower()) if not _IGNORED.fullmatch(word))


_MODELS = {_compact(name): name for name in GPU_MEMORY_GB} | _ALSO_CALLED


def same_gpu(one: str, other: str) -> bool:
    """Whether two names mean one GPU model, whatever its memory and form: `V100` and `Tesla V100-SXM2-16GB`."""
    return read_gpu_name(one).key == read_gpu_name(other).key


def compare_gpus(one: str, other: str) -> int:
    """0 where two names may mean one GPU, as `A100` and each size of it; else -1 or 1, by model and memory."""
    first, second = read_gpu_name(one), read_gpu_name(other)
    if _may_be(first, second):
        return 0
    return -1 if (first.key, first.memory_gb or 0) < (second.key, second.memory_gb or 0) else 1


SEVERAL_SIZES = tuple(name for name, sizes in GPU_MEMORY_GB.items() if len(sizes) > 1 and name not in _ONE_PRODUCT)
"""Models that are two accelerators: with less memory and with more."""


def gpu_names(texts: Iterable[str]) -> dict[str, str]:
    """By each name in a table the one that price lists have for it; a name that is not known stays as it is.

    The form is kept where the table has one model as a PCIe card and otherwise, since these are not as fast.
    """
    read = {text: read_gpu_name(text) for text in texts}
    forms: dict[str, set[str]] = defaultdict(set)
    for gpu in read.values():
        forms[gpu.name].add(gpu.form)
    return {
        text: text
        if not gpu.name
        else f"{gpu.name} {PCIE}"
        if gpu.form == PCIE and len(forms[gpu.name]) > 1
        else gpu.name
        for text, gpu in read.items()
    }


def meant_gpu(asked: str, names: Sequence[str]) -> str | None:
    """The one of `names` that is meant: it itself, else the only one that says nothing else; None where none is."""
    exact = next((name for name in names if name.lower() == asked.lower()), None)
    if exact is not None:
        return exact
    wanted = read_gpu_name(asked)
    fitting = [name for name in dict.fromkeys(names) if _may_be(wanted, read_gpu_name(name))]
    closer = [name for name in fitting if read_gpu_name(name).form == wanted.form]
    return next((gpus[0] for gpus in (fitting, closer) if len(gpus) == 1), None)


def _may_be(one: GpuName, other: GpuName) -> bool:
    memories = (one.memory_gb, other.memory_gb)
    return one.key == other.key and (None in memories or is_alike(one.memory_gb or 0, other.memory_gb or 1))
