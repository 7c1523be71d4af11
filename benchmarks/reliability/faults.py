"""What sizer makes of runs that go wrong: `python benchmarks/reliability/faults.py [WORDS]`.

Each fault (all whose name holds WORDS) is made between good runs in a study of its own, on the real command line with
real limits. The table shows its outcome, the first and the last line of its error, whether a good run was measured
after it, and what of it was left on the host. Exits 1 where one of these is not as it should be. Needs root.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from fault_cases import FAULTS
from fault_study import FaultCase, FaultFolder, Found, measured, said

from sizer.words.warnings import warning_name

SHOWN = 110
"""Characters of a line of an error."""


def main() -> int:
    """Inject every fault that is asked for; the exit code."""
    if os.geteuid() != 0:
        print("faults: sets real limits and mounts small disks: type sudo before it", file=sys.stderr)
        return 3
    wanted = " ".join(sys.argv[1:])
    faults = [fault for fault in FAULTS if wanted in fault.name]
    missed = 0
    print(f"{'fault':58s}  {'outcome':13s}  went on  left  error's first and last line")
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/var/tmp") as folder:
        for number, fault in enumerate(faults):
            found = measured([fault], FaultFolder(Path(folder) / str(number)), fault.needs)[fault.name]
            report(fault, found)
            missed += bool(found.misses)
    print(f"{len(faults)} faults, {missed} not as they should be")
    return 1 if missed else 0


def report(fault: FaultCase, found: Found) -> None:
    """Print what came of a fault, and what it should not have."""
    outcome = found.run.outcome.value if found.run else "no run"
    warnings = found.run.warnings if found.run else ()
    marks = (warning_name(each.kind) for each in warnings)
    failed = found.run is not None and found.run.error is not None
    error = said(found.run) if found.run and failed else next((each for each in marks if each == fault.warning), "-")
    went_on, left = "yes" if found.went_on else "NO", str(len(found.left))
    first, *rest = error.splitlines()
    print(f"{fault.name:58s}  {outcome:13s}  {went_on:7s}  {left:4s}  {first[:SHOWN]}", flush=True)
    if rest:
        print(f"{'':90s}{rest[-1][:SHOWN]}", flush=True)
    for miss in found.misses:
        print(f"    MISSED: {miss}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
