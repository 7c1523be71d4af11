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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from emulated_machine import CACHE, KERNEL_FOLDER, PACKAGES, boot, provide_kernel, provide_programs
from systemd_debian import build, provide_root

SHARE_TOLERANCE = 0.03
"""Share by which the cores that a run used may miss its vCPUs."""

RATE_TOLERANCE = 0.1
RATES = {"read_iops": 400, "write_iops": 400, "read_bytes_per_second": 20e6, "write_bytes_per_second": 20e6}
"""Those of the throttled disk, and the share by which fio's figures may miss them."""

CONTROLS = ("vcpus", "fractional_vcpus", "memory", "disk")
IN_A_SCOPE = ["vcpus", "fractional_vcpus", "memory"]
GUEST_SECONDS = 1500
MEBIBYTES = 1536


class AimResult(NamedTuple):
    """An aim, what was found, and whether it is met."""

    aim: str
    found: str
    met: bool


def judge(results: dict[str, Any]) -> list[AimResult]:
    """Every aim of what the guest found."""
    if not results.get("person"):
        return [AimResult("the guest tells what it found", "it ended without; its console above tells why", False)]
    return [*_plainly(results), *_in_the_scope(results["person"]), *_killed(results["person"]), *_as_root(results)]


def _plainly(results: dict[str, Any]) -> Iterator[AimResult]:
    person = results["person"]
    plain, refused = person["plain"], person["refused"]
    yield AimResult(
        "a user is logged in under systemd", f"{results['systemd']}: {person['group']}", "session-" in person["group"]
    )
    by_affinity = (plain["status"], plain.get("limits"), _had(plain)) == (0, "affinity", ["vcpus"])
    yield AimResult(
        "plainly: doctor ends with 0: whole vCPUs by affinity", f"{plain.get('limits')}: {_had(plain)}", by_affinity
    )
    own = person["undelegated"]
    by_affinity = (own.get("limits"), _had(own)) == ("affinity", ["vcpus"])
    yield AimResult("in a scope that systemd keeps: it is left alone", f"{own.get('limits')}: {_had(own)}", by_affinity)
    fixes = [plain["checks"].get(name, {}).get("fix") for name in CONTROLS[1:]]
    yield AimResult("plainly: the command for each of the others", "; ".join(map(str, fixes)), all(fixes))
    output = f"exit {refused['status']}: {refused['stderr']}"
    yield AimResult("plainly: a fraction and a cap are refused", output, refused["status"] == 3 and "type: " in output)


def _in_the_scope(person: dict[str, Any]) -> Iterator[AimResult]:
    for name, shown in (("by doctor's command", person["scope"]), ("again in one scope", person["twice"])):
        met = (shown["status"], shown.get("limits"), _had(shown)) == (0, "cgroup v2", IN_A_SCOPE)
        yield AimResult(f"delegated, {name}: fractions and memory", f"{shown.get('limits')}: {_had(shown)}", met)
    study = person["study"]
    whole = (study["status"], len(study["runs"])) == (0, 3)
    yield AimResult("delegated: a study", f"exit {study['status']}, {len(study['runs'])} runs", whole)
    for run in study["runs"]:
        yield from limits_held(run)
    yield AimResult("delegated: nothing is left", _listed(person["left"]), not person["left"])


def _had(shown: dict[str, Any]) -> list[str]:
    return [name for name in CONTROLS if shown["checks"].get(name, {}).get("ok")]


def limits_held(run: dict[str, Any]) -> Iterator[AimResult]:
    name, inside = f"delegated, {run['workload']} at {run['vcpus']:g} vCPU, 64 MiB", run["inside"]
    if run["workload"] == "hoards":
        yield AimResult(f"{name}: over its cap", run["outcome"], run["outcome"] == "out_of_memory")
        return
    yield AimResult(f"{name}: within 3 %", f"{run['outcome']}, {_cores(run)}", _cores_held(run))
    quota = f"{round(run['vcpus'] * 100_000)} 100000" if run["vcpus"] % 1 else "max 100000"
    files = [inside.get(file) for file in ("cpu.max", "memory.max", "memory.swap.max")]
    held = files == [quota, str(64 << 20), "0"] and len(inside.get("cpus", ())) == 1
    yield AimResult(
        f"{name}: as the program reads it", f"{'; '.join(map(str, files))}; CPUs {inside.get('cpus')}", held
    )
    by = run["limited_by"] or {}
    met = by.get("backend") == "cgroup v2" and by.get("by_cpuset") is False
    yield AimResult(f"{name}: in its record", str(by.get("backend")), met)


def _cores(run: dict[str, Any]) -> str:
    return "no cores" if run["cores"] is None else f"{run['cores']:.4f} cores"


def _cores_held(run: dict[str, Any]) -> bool:
    return run["cores"] is not None and abs(run["cores"] / run["vcpus"] - 1) <= SHARE_TOLERANCE


def _killed(person: dict[str, Any]) -> Iterator[AimResult]:
    killed = person["killed"]
    yield AimResult(
        "kill -9 in a scope leaves something", f"{len(killed['left_by_kill'])} things", bool(killed["left_by_kill"])
    )
    met = killed["status"] == 0 and not killed["left"]
    yield AimResult("the next start removes it and goes on", f"exit {killed['status']}, {_listed(killed['left'])}", met)


def _as_root(results: dict[str, Any]) -> Iterator[AimResult]:
    person = results["person"]
    plain, shown = results["no_session"]
    met = (plain.get("limits"), _had(shown)) == ("affinity", IN_A_SCOPE)
    yield AimResult("a user without a session, by doctor's command", f"{shown['line']}: {_had(shown)}", met)
    disk_fix = str(person["disk_fix"])
    yield from _throttled(disk_fix, person["by_disk_fix"], person["left_at_the_end"])
    yield from _throttled("root, systemd-run --scope", results["root_scope"], results["root_scope_left"])
    # What disturbs there takes emulated CPUs from fio, so that only more than the rate would be the throttle's fault.
    name = "root, in a service while systemd reloads"
    yield from _throttled(name, results["root_plain"], results["root_plain_left"], least=0.0)


def _throttled(
    name: str, study: dict[str, Any], left: list[str], least: float = 1 - RATE_TOLERANCE
) -> Iterator[AimResult]:
    yield AimResult(f"{name}: a study", f"exit {study['status']}", study["status"] == 0 and bool(study["runs"]))
    for run in study["runs"]:
        yield AimResult(
            f"{name}: within 3 %", f"{_cores(run)}; {(run['limited_by'] or {}).get('backend')}", _cores_held(run)
        )
        shares = {figure: (run["measured"] or {}).get(figure, 0.0) / rate for figure, rate in RATES.items()}
        listed = ", ".join(f"{figure.replace('_', ' ')} {share:.3f}" for figure, share in shares.items())
        held = all(least <= share <= 1 + RATE_TOLERANCE for share in shares.values())
        yield AimResult(f"{name}: the throttled disk, within 10 % of its rates", listed, held)
    yield AimResult(f"{name}: nothing is left", _listed(left), not left)


def _listed(left: list[str]) -> str:
    return ", ".join(left) if left else "nothing left"


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
    results: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    rows = judge(results)
    width = max(len(row.aim) for row in rows)
    for row in rows:
        print(f"{'met   ' if row.met else 'MISSED'}  {row.aim:{width}}  {' '.join(str(row.found).split())}")
    missed = sum(not row.met for row in rows)
    print(
        f"{len(rows) - missed} of {len(rows)} aims met; {made:.0f} s to make the Debian, {seconds:.0f} s in the guest"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
