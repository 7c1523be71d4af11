"""What the fuzzer puts where it does not belong: numbers, words, and parts of YAML that unfold or do not end."""

from __future__ import annotations

from typing import Any

NUMBERS = (
    *(0, 1, -1, 2, 3, 0.0, -0.0, 0.1, 0.3, -0.5, 1.5, 1e-9, 1e-300, 5e-324, 1e9, 1e18, 1e19, 1e300, 1.7e308, -1e308),
    *(2**20, 2**31, 2**53 + 1, 2**60, 2**63, -(2**63), 2**64, 10**30, 10**400, float("nan"), float("inf")),
)
WORDS: tuple[str, ...] = (
    *("", " ", "NaN", "Infinity", "-Infinity", "nan", "1e999", "0x10", "1_000", "12", "true", "null", "~", "x" * 5_000),
    *(
        "../../etc/passwd",
        "/dev/zero",
        ".",
        "..",
        "-rf",
        "--out",
        "a/b",
        "a\\b",
        "$(id)",
        "`id`",
        "; id",
        "%s%n",
        "{0}",
    ),
    *("=1+1", "+1", "@SUM(A1)", "<script>alert(1)</script>", "&lt;", "'", '"', "a,b", "a\nb", "a\r\nb", "\t", "\x00"),
    *(
        "\x1b[31mred",
        "\x07",
        "\x7f",
        "\x85",
        "\u202eevil",
        "\u200b",
        "\u2028",
        "\ufeff",
        "\ud800",
        "\U0001f600",
        "Ω",
        "١",
    ),
    *("1e400GiB", "0GiB", "-1GiB", "2G", "99999999999PiB", "cuda:99", "(?P<rate>", "(a+)+$", "(?P<rate>x{99999})"),
)
LONG = ("1" * 120_000, f"1{' ' * 120_000}x", "1,000" * 24_000, "1 [1] " * 20_000, f"a{' x' * 60_000}")
"""Cells that take hours to read from each of their characters on."""
LARGE = (f"0x{'f' * 3_600}", f"0b{'1' * 13_000}", f"0{'7' * 4_800}", "9" * 4_000, "9:" * 3_000 + "59")
"""Whole numbers that Python reads and cannot write, or not turn into floats."""
WORDS += (*LONG, *LARGE)
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
