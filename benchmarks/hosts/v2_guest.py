"""What v2_kernel.py runs inside the emulated machine: tests of the limits, and what is counted, as JSON to a file."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from sizer.limits.detection import detect
from sizer.records.run import Sample
from sizer.records.study import Limits
from tests.described_hosts import ELSEWHERE

TESTS = ("test_contract.py", "test_real_limits.py", "test_real_disk.py", "test_delegation.py")

LEFT_OUT = "not (readahead or mapped or direct or through or overlay or namespace)"
"""Ways of reading and writing that take the block layer's same path once more, at emulated speed."""


def main(result: Path, project: Path, disk: Path) -> None:
    backend = detect()
    written: dict[str, Any] = {
        "kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(),
        "backend": backend.name,
        "topology": asdict(backend.topology.counts),
        "capabilities": [asdict(capability) for capability in backend.capabilities()],
    }
    with backend.open("counted", Limits(vcpus=1, memory_bytes=64 << 20)) as group:
        written["uncounted"] = sorted({field.name for field in fields(Sample)} - group.accounted - ELSEWHERE)
    tests = [str(project / "tests/integration/limits" / name) for name in TESTS]
    options = ["-p", "no:cacheprovider", "-p", "tests.described_hosts", "-m", "root", "-k", LEFT_OUT, "-v"]
    options += ["--color=no", "--tb=short", "-rfs", f"--rootdir={project}", f"--basetemp={disk}/tests"]
    written["tests_exit_status"] = int(pytest.main([*options, *tests]))
    written["groups_left"] = [str(path) for path in Path("/sys/fs/cgroup").glob("sizer/*") if path.is_dir()]
    result.write_text(json.dumps(written) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
