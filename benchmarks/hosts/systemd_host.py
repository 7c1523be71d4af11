"""sizer on a real systemd host, in an emulated machine: `python benchmarks/hosts/systemd_host.py [--out FILE]`.

Makes a small Debian with systemd as init (mmdebstrap, kept for the next time) with what sizer itself requires from
PyPI, boots it in QEMU with cgroup v2, and there types what an ordinary user and root type: `sizer doctor`, the very
command that it tells, a study of fractions and memory caps in the delegated scope, kill -9 in its middle, throttled
disks as root. Needs root for mmdebstrap and no virtualisation. A table to stdout, the guest's console to stderr; ends
with 0 if every aim was met, 1 if not, 3 if the machine cannot be made here.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from emulated_machine import CACHE, KERNEL_FOLDER, PACKAGES, boot, provide_kernel, provide_programs
from systemd_aims import AimResult, judge
from systemd_debian import build, provide_root

GUEST_SECONDS = 1500
MEBIBYTES = 1536


def print_table(rows: list[AimResult]) -> None:
    """A line for each aim: met or missed, and what was found."""
    width = max(len(row.aim) for row in rows)
    for row in rows:
        print(f"{'met   ' if row.met else 'MISSED'}  {row.aim:{width}}  {' '.join(str(row.found).split())}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write what the guest found here, as JSON")
    folder = CACHE / "systemd_host"
    parser.add_argument("--cache", type=Path, default=folder, help="where the Debian is kept [%(default)s]")
    arguments = parser.parse_args()
    provide_programs(PACKAGES)
    kernel = provide_kernel(KERNEL_FOLDER)
    begin = time.monotonic()
    root = provide_root(arguments.cache)
    made = time.monotonic() - begin
    with tempfile.TemporaryDirectory() as aside:
        image, result = Path(aside, "initramfs"), Path(aside, "result")
        build(image, KERNEL_FOLDER / "lib" / "modules")
        seconds = boot(kernel, image, (root,), result, GUEST_SECONDS, mebibytes=MEBIBYTES, kept=True)
        lines = result.read_text().splitlines() if result.exists() else []
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    rows = judge(found)
    print_table(rows)
    missed = sum(not row.met for row in rows)
    print(
        f"{len(rows) - missed} of {len(rows)} aims met; {made:.0f} s to make the Debian, {seconds:.0f} s in the guest"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
