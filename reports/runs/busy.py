"""The busy share of each resource as a bar with its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizer import words
from sizer.records import Evidence

from .. import results


def bars(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Median busy share of each resource over these runs, busiest first; `bar` is its width in percent."""
    names = dict.fromkeys(name for each in evidence for name in each.busy)
    shares = {name: results.middle(each.busy.get(name) for each in evidence) or 0.0 for name in names}
    return [
        {
            "name": words.busy_name(name),
            "percent": words.percent(share),
            "bar": f"{min(max(share, 0.0), 1.0) * 100:.0f}",
        }
        for name, share in sorted(shares.items(), key=lambda item: -item[1])
    ]
