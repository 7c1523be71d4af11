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
Key = str | int

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

MUCH_NESTED = {"json": b"[" * 3_000, "yaml": b"[" * 3_000, "csv": b'"' * 3_000}
YAML_PARTS = (
    b"&a [*a]",
    b"a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
    b"!!python/object/apply:os.system [id]",
    b"!!binary aGk=",
    b"!mine x",
    b"<<: *missing",
    b"\n---\n",
    b"\n...\n",
    b"\n? [a]\n: b\n",
    b"%YAML 9.9\n---\n",
    b"|+9\n",
    b"\t",
    b"- - - - -",
    b"{{x}}",
    *(each.encode() for each in LARGE),
    b"'",
    b"# ",
)


def odd_values() -> st.SearchStrategy[Any]:
    """Values put where they do not belong."""
    listed = st.sampled_from(NUMBERS) | st.sampled_from(WORDS) | st.sampled_from(WHOLE)
    drawn = st.text(max_size=30) | st.integers() | st.floats()
    nested = st.recursive(
        listed, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    )
    # A copy of each: a later change may be made inside of what was put in, and the next case draws it again.
    return (listed | listed | drawn | nested | st.integers(20, 400).map(_deep)).map(copy.deepcopy)


def _deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@st.composite
def spoiled(draw: Draw, data: Any) -> Any:
    """The plain value `data` with one to three things in it changed."""
    data = copy.deepcopy(data)
    gently = draw(st.booleans())
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3)))):
        holder, key = _place(draw, data)
        if holder is None:
            return draw(odd_values())
        _change(draw, holder, key, GENTLE if gently else ROUGH)
    return data


def _place(draw: Draw, data: Any) -> tuple[Any, Key | None]:
    """Somewhere in the data: at each level, any of its entries, so that a long list does not draw all to itself."""
    holder, key, value = None, None, data
    while isinstance(value, (dict, list)) and value and (holder is None or draw(st.integers(0, 4))):
        if holder is None and draw(st.integers(0, 60)) == 0:
            return None, None
        holder = value
        key = draw(st.sampled_from(sorted(value, key=str))) if isinstance(value, dict) else _index(draw, value)
        value = value[key]
    return holder, key


def _index(draw: Draw, value: list[Any]) -> int:
    return int(draw(st.integers(0, len(value) - 1)))


ROUGH = (*("replace",) * 6, "scale", "remove", "double", "rename", "swap", "many")
GENTLE = (*("scale",) * 5, "remove", "double", "swap", "many")
"""What a valid file may well stay valid by, and so comes to what reads its numbers."""


def _change(draw: Draw, holder: Any, key: Any, ways: tuple[str, ...]) -> None:
    value = holder[key]
    how = draw(st.sampled_from(ways))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if how == "scale" and is_number and abs(value) < 1e300:  # What is larger cannot be multiplied by a float.
        holder[key] = value * draw(st.sampled_from((-1, 0, 1e-30, 1e-9, 1e-3, 0.5, 1.01, 2, 1e3, 1e9, 1e30, 1e200)))
    elif how == "remove":
        del holder[key]
    elif how == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif how == "rename" and isinstance(holder, dict):
        holder[draw(st.sampled_from(WORDS))] = holder.pop(key)
    elif how == "swap":
        other = draw(st.sampled_from(sorted(holder, key=str))) if isinstance(holder, dict) else _index(draw, holder)
        holder[key], holder[other] = holder[other], holder[key]
    elif how == "many" and isinstance(value, list):
        holder[key] = value * draw(st.sampled_from((0, 2, 40)))
    else:
        holder[key] = draw(odd_values())


@st.composite
def broken(draw: Draw, content: bytes, form: str) -> bytes:
    """The bytes of a file with one to three things done to them that know nothing of their meaning."""
    for _ in range(draw(st.sampled_from((1, 1, 2, 3)))):
        at = draw(st.integers(0, len(content)))
        to = min(len(content), at + draw(st.sampled_from((1, 2, 10, 100, 1_000))))
        how = draw(st.sampled_from(("cut", "flip", "insert", "drop", "double", "noise", "encode", "nest", "part")))
        if how == "cut":
            content = content[:at]
        elif how == "flip" and at < len(content):
            content = content[:at] + bytes([content[at] ^ (1 << draw(st.integers(0, 7)))]) + content[at + 1 :]
        elif how == "insert":
            content = content[:at] + draw(st.sampled_from(WORDS)).encode("utf-8", "surrogatepass") + content[at:]
        elif how == "drop":
            content = content[:at] + content[to:]
        elif how == "double":
            content = content[:to] + content[at:]
        elif how == "noise":
            content = content[:at] + draw(st.binary(max_size=20)) + content[to:]
        elif how == "encode":
            content = _encoded(draw, content)
        elif how == "nest":
            content = content[:at] + MUCH_NESTED[form] + content[at:]
        else:
            content = content[:at] + draw(st.sampled_from(YAML_PARTS)) + content[at:]
    return content


def _encoded(draw: Draw, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: b"\xef\xbb\xbf" + content,
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-32", "replace"),
        lambda: text.encode("utf-16-le"),
        lambda: content.replace(b"\n", b"\r\n"),
        lambda: content.replace(b"\n", b"\r"),
        lambda: content.replace(b" ", b"\t"),
        lambda: content.replace(b" ", b"\xc2\xa0"),
        lambda: b"\x00" * len(content),
        lambda: content + b"\x00",
        lambda: b"",
    )
    way: Callable[[], bytes] = draw(st.sampled_from(ways))
    return way()


def spoiled_file(content: bytes, form: str) -> st.SearchStrategy[bytes]:
    """The bytes of a `json`, `yaml` or `csv` file spoiled by meaning, by bytes, or by both."""
    by_meaning = spoiled(_read(content, form)).map(lambda data: _written(data, form))
    doubled = by_meaning.map(_doubled_key) if form == "json" else by_meaning
    both = by_meaning.flatmap(lambda changed: broken(changed, form))
    return by_meaning | by_meaning | by_meaning | doubled | broken(content, form) | both


def _read(content: bytes, form: str) -> Any:
    text = content.decode()
    if form == "json":
        return json.loads(text)
    return yaml.safe_load(text) if form == "yaml" else list(csv.reader(io.StringIO(text)))


def _written(data: Any, form: str) -> bytes:
    """In the form of the file, as far as what was put into it has one there."""
    if form == "json":
        return json.dumps(data).encode()
    if form == "yaml":
        return yaml.safe_dump(data, allow_unicode=True, sort_keys=False).encode("utf-8", "surrogatepass")
    rows = data if isinstance(data, list) else [[data]]
    text = io.StringIO()
    writer = csv.writer(text, escapechar="\\", lineterminator="\n")
    writer.writerows(list(row) if isinstance(row, list) else [row] for row in rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


def _doubled_key(content: bytes) -> bytes:
    """The first key of the object a second time, with another value: readers differ in which of them they take."""
    key, found, _ = content[1:].partition(b":")
    return b"{" + key + b": 7, " + content[1:] if found and content.startswith(b'{"') else content
