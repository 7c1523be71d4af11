"""The busy share of each resource as a bar with its words, and what repeats show of what binds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sizer.records.configuration import Bottleneck
from sizer.records.run import Evidence, EvidenceKind
from sizer.words.language import clauses, percent
from sizer.words.page import busy_name
from sizer.words.runs import evidence_in_words, in_so_many_runs

from .. import results


def bars(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Median busy share of each resource over these runs, busiest first; `bar` is its width in percent."""
    names = dict.fromkeys(name for each in evidence for name in each.busy)
    shares = {name: results.middle(each.busy.get(name) for each in evidence) or 0.0 for name in names}
    return [
        {
            "name": busy_name(name),
            "percent": percent(share),
            "bar": f"{min(max(share, 0.0), 1.0) * 100:.0f}",
        }
        for name, share in sorted(shares.items(), key=lambda item: -item[1])
    ]


def told(evidence: Sequence[Evidence]) -> str:
    """What the bottleneck of these runs was named by: medians over the runs that named it alike, as their rate is."""
    alike: dict[tuple[Bottleneck, EvidenceKind, frozenset[str], str | None], list[Evidence]] = defaultdict(list)
    for each in evidence:
        alike[each.bottleneck, each.kind, frozenset(each.figures), each.text].append(each)
    said = [(evidence_in_words(_middle(group)), len(group)) for group in alike.values()]
    if len(said) < 2:
        return "".join(line for line, _count in said)
    return clauses(in_so_many_runs(count, len(evidence), line) for line, count in said)


def _middle(alike: Sequence[Evidence]) -> Evidence:
    shares = {name: results.middle(each.figures[name] for each in alike) or 0.0 for name in alike[0].figures}
    return replace(alike[0], figures=dict(sorted(shares.items(), key=lambda item: -item[1])))
