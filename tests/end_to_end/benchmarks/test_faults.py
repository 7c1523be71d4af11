"""Runs that go wrong between good ones, on the command line: most of `benchmarks/reliability/faults.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_study import FaultFolder, measured
from faults import FAULTS


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("needs", [("deadline",), ("", "small scratch")], ids=str)
def test_each_fault_is_its_own_outcome_and_the_study_goes_on(needs: tuple[str, ...], tmp_path: Path) -> None:
    """The right outcome with its reason and the log's end, good runs after it, and nothing left on the host.

    In two studies: one in which runs hang until a deadline, in one of three attempts, as the host may take most of the
    4 s that each has; and one with as long as it takes.
    """
    faults = [fault for fault in FAULTS if fault.needs in needs]
    for attempt in range(3):
        results = measured(faults, FaultFolder(tmp_path / f"place-{attempt}"), needs[-1])
        missed = {name: result.misses for name, result in results.items() if result.misses}
        faults = [fault for fault in faults if fault.name in missed]
        if not missed or needs != ("deadline",) or any(result.left for result in results.values()):
            break
    assert missed == {}
