"""Runs that go wrong between good ones, on the command line: the quick part of `benchmarks/reliability/faults.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_study import FaultFolder, measured
from faults import FAULTS

QUICK = {
    "deadline": [fault for fault in FAULTS if fault.quick and fault.needs == "deadline"],
    "small scratch": [fault for fault in FAULTS if fault.quick and fault.needs in ("", "small scratch")],
}
"""Two studies: one in which runs hang until a deadline, and one with as long as it takes."""


def test_every_fault_has_a_name_and_an_outcome_of_its_own_words() -> None:
    """Names are keys of the study, and a failure without words to look for would show nothing."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert all(fault.words for fault in FAULTS if fault.outcome.value not in ("completed",))


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("needs", QUICK, ids=str)
def test_each_fault_is_its_own_outcome_and_the_study_goes_on(needs: str, tmp_path: Path) -> None:
    """The right outcome with its reason and the log's end, good runs after it, and nothing left on the host.

    Of those that have 4 s until they hang, in one of three studies: the host may take most of these.
    """
    faults = QUICK[needs]
    for attempt in range(3):
        found = measured(faults, FaultFolder(tmp_path / f"place-{attempt}"), needs)
        missed = {name: each.misses for name, each in found.items() if each.misses}
        faults = [fault for fault in faults if fault.name in missed]
        if not missed or needs != "deadline" or any(each.left for each in found.values()):
            break
    assert missed == {}
