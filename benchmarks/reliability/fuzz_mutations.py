"""Valid files spoiled: values that do not belong, keys too many or too few, bytes that a disk or an editor broke."""

from __future__ import annotations

import copy
import csv
import io
import json
from collections.abc import Callable
from typing import Any

import yaml
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

NUMBERS = (
    *(0, 1, -1, 2, 3, 0.0, -0.0, 0.1, 0.3, -0.5, 1.5, 1e-9, 1e-300, 5e-324, 1e9, 1e18, 1e19, 1e300, 1.7e308, -1e308),
    *(2**20, 2**31, 2**53 + 1, 2**60, 2**63, -(2**63), 2**64, 10**30, 10**400, float("nan"), float("inf")),
)
LONG = ("1" * 120_000, f"1{' ' * 120_000}x", "1,000" * 24_000, "1 [1] " * 20_000, f"a{' x' * 60_000}")
"""Cells that take hours to read from each of their characters on."""
LARGE = (f"0x{'f' * 3_600}", f"0b{'1' * 13_000}", f"0{'7' * 4_800}", "9" * 4_000, "9:" * 3_000 + "59")
"""Whole numbers that Python reads and cannot write, or not turn into floats."""
WORDS = (
    *("", " ", "NaN", "Infinity", "-Infinity", "nan", "1e999", "0x10", "1_000", "12", "true", "null", "~", "x" * 5_000),
    *("../../etc/passwd", "/dev/zero", ".", "..", "-rf", "--out", "a/b", "a\\b", "$(id)", "`id`", "; id", "%s%n"),
    *("{0}", "\x1b[31mred", "\x07", "\x7f", "\x85", "\u202eevil", "\u200b", "\u2028", "\ufeff", "\ud800"),
    *("=1+1", "+1", "@SUM(A1)", "<script>alert(1)</script>", "&lt;", "'", '"', "a,b", "a\nb", "a\r\nb", "\t", "\x00"),
    *("\U0001f600", "Ω", "١"),
    *("1e400GiB", "0GiB", "-1GiB", "2G", "99999999999PiB", "cuda:99", "(?P<rate>", "(a+)+$", "(?P<rate>x{99999})"),
    *LONG,
    *LARGE,
)
WHOLE: tuple[Any, ...] = (None, True, False, [], {}, [[]], {"": None}, [None] * 300, [0] * 300)

PIECES = (
    *(3_000 * bracket for bracket in (b"[", b'"')),
    b'"name": 7, "name": 8, ',
    b"&a [*a]",
    b"a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
    b"!!python/object/apply:os.system [id]",
    *(b"!!binary aGk=", b"!mine x", b"<<: *missing", b"\n---\n", b"\n...\n", b"\n? [a]\n: b\n", b"%YAML 9.9\n---\n"),
    *(b"|+9\n", b"\t", b"- - - - -", b"{{x}}", b"'", b"# "),
)
"""What means something to a reader of one of the forms."""
ENCODED: tuple[Callable[[bytes], bytes], ...] = (
    lambda content: b"\xef\xbb\xbf" + content,
    lambda content: content.decode("utf-8", "replace").encode("utf-16"),
    lambda content: content.decode("utf-8", "replace").encode("utf-32-le", "replace"),
    lambda content: content.replace(b"\n", b"\r"),
    lambda content: content.replace(b" ", b"\xc2\xa0"),
    lambda content: b"\x00" * len(content),
    lambda _: b"",
)


def odd_values() -> st.SearchStrategy[Any]:
    """Values put where they do not belong."""
    listed = st.sampled_from(NUMBERS) | st.sampled_from(WORDS) | st.sampled_from(WHOLE)
    drawn = st.text(max_size=30) | st.integers() | st.floats()
    nested = st.recursive(
        listed, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    )
    deep = st.integers(20, 400).map(lambda depth: json.loads("[" * depth + "]" * depth))
    # A copy of each: a later change may be made inside of what was put in, and the next case draws it again.
    return (listed | listed | drawn | nested | deep).map(copy.deepcopy)


@st.composite
def spoiled(draw: Draw, data: Any) -> Any:
    """The plain value `data` with one to three things in it changed."""
    data = copy.deepcopy(data)
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3)))):
        holder, key, value = None, None, data
        # At each level any of its entries, so that a long list does not draw all to itself.
        while isinstance(value, (dict, list)) and value and (holder is None or draw(st.integers(0, 4))):
            holder, key = value, draw(st.sampled_from(_keys(value)))
            value = holder[key]
        if holder is None or draw(st.integers(0, 99)) == 0:
            return draw(odd_values())
        _change(draw, holder, key, draw(st.sampled_from(WAYS)))
    return data


def _keys(holder: Any) -> list[Any]:
    return sorted(holder, key=str) if isinstance(holder, dict) else list(range(len(holder)))


WAYS = (*("scale",) * 4, *("replace",) * 4, "remove", "double", "rename", "swap", "many")
"""Half of them leave a number a number, so that what reads a valid file comes to compute with it."""


def _change(draw: Draw, holder: Any, key: Any, way: str) -> None:
    value = holder[key]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if way == "scale" and is_number and abs(value) < 1e300:  # What is larger cannot be multiplied by a float.
        holder[key] = value * draw(st.sampled_from((-1, 0, 1e-30, 1e-9, 1e-3, 0.5, 1.01, 2, 1e3, 1e9, 1e30, 1e200)))
    elif way == "remove":
        del holder[key]
    elif way == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif way == "rename" and isinstance(holder, dict):
        holder[draw(st.sampled_from(WORDS))] = holder.pop(key)
    elif way == "swap":
        other = draw(st.sampled_from(_keys(holder)))
        holder[key], holder[other] = holder[other], value
    elif way == "many" and isinstance(value, list):
        holder[key] = value * draw(st.sampled_from((0, 2, 40)))
    else:
        holder[key] = draw(odd_values())


@st.composite
def broken(draw: Draw, content: bytes) -> bytes:
    """The bytes of a file with one to three things done to them that know nothing of their meaning."""
    for _ in range(draw(st.sampled_from((1, 1, 2, 3)))):
        if draw(st.integers(0, 5)) == 0:
            content = draw(st.sampled_from(ENCODED))(content)
            continue
        start = draw(st.integers(0, len(content)))
        end = start + draw(st.sampled_from((0, 1, 10, 100, len(content))))
        words = st.sampled_from(WORDS).map(lambda word: word.encode("utf-8", "surrogatepass"))
        pieces = st.sampled_from((b"", 2 * content[start:end], *PIECES))
        content = content[:start] + draw(pieces | words | st.binary(max_size=20)) + content[end:]
    return content


def spoiled_file(content: bytes, form: str) -> st.SearchStrategy[bytes]:
    """The bytes of a `json`, `yaml` or `csv` file spoiled by meaning, by bytes, or by both; of any other by bytes."""
    if form not in WRITTEN:
        return broken(content)
    text = content.decode()
    data = json.loads(text) if form == "json" else yaml.safe_load(text) if form == "yaml" else None
    by_meaning = spoiled(list(csv.reader(io.StringIO(text))) if data is None else data).map(WRITTEN[form])
    return by_meaning | by_meaning | by_meaning | broken(content) | by_meaning.flatmap(broken)


def _csv_of(data: Any) -> bytes:
    rows = data if isinstance(data, list) else [[data]]
    text = io.StringIO()
    writer = csv.writer(text, escapechar="\\", lineterminator="\n")
    writer.writerows(list(row) if isinstance(row, list) else [row] for row in rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


WRITTEN: dict[str, Callable[[Any], bytes]] = {
    "json": lambda data: json.dumps(data).encode(),
    "yaml": lambda data: yaml.safe_dump(data, allow_unicode=True, sort_keys=False).encode("utf-8", "surrogatepass"),
    "csv": _csv_of,
}
"""In the form of a file, as far as what was put into it has one there."""
