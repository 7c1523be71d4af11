"""Writes what the model believes before any run, sizer/model/beliefs.py, as tables into docs/model.md."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from sizer.model.beliefs import BELIEFS, SWITCHES, Line, Scale  # noqa: E402
from sizer.records.prediction import NORMAL_90  # noqa: E402

PAGE = ROOT / "docs" / "model.md"
BETWEEN = re.compile(r"(?<=<!-- script/beliefs.py -->\n).*?(?=<!-- end -->)", re.DOTALL)


def tables() -> str:
    """In Markdown: the quantities, then the switches."""
    ends = {
        name: [_value(line, deviations) for deviations in (-NORMAL_90, NORMAL_90)] for name, line in BELIEFS.items()
    }
    quantities = [(name, line.what, "–".join(ends[name]), line.unit, line.source) for name, line in BELIEFS.items()]
    switches = [(name, f"{round(100 * probability, 1):g}%", what) for name, (probability, what) in SWITCHES.items()]
    return "\n".join(
        [
            "",
            *_table(("quantity", "what", "90%", "unit", "by hand and"), quantities),
            "",
            *_table(("switch", "on", "what, by hand"), switches),
            "",
            "",
        ]
    )


def _value(line: Line, deviations: float) -> str:
    """So many standard deviations from the mean: two digits, three above 1."""
    value = line.mean + deviations * line.deviation
    if line.scale is Scale.LN:
        value = math.exp(value)
    if line.scale is Scale.LOGIT:
        value = 1 / (1 + math.exp(-value))
    return f"{value:.3g}" if value > 1 else f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"|{'|'.join(row)}|" for row in (head, ["---"] * len(head), *rows)]


if __name__ == "__main__":
    PAGE.write_text(BETWEEN.sub(lambda _: tables(), PAGE.read_text("utf-8")), encoding="utf-8")
