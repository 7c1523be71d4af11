"""What systemd_host.py runs inside the emulated machine: what root and an ordinary user type, and what comes of it.

`host FILE` is root's part, in a service, which writes it all as JSON; `person` the ordinary user's, in a login session
of its own; `burn`, `hoard` and `daemon` are the programs that are measured.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

GROUPS = Path("/sys/fs/cgroup")
PERSON, SERVICE = "person", "service"
PYTHON, HERE = "/usr/bin/python3", str(Path(__file__).resolve())
PATIENCE = 300.0

DELEGATED = """
name: delegated
measure: {repeats: 1, seconds: 8, precision: 0.001}
workloads:
  - {name: burns, kind: command, command: [PYTHON, -S, HERE, burn], axes: {vcpus: [0.5, 1], memory: [64MiB]}}
  - {name: hoards, kind: command, command: [PYTHON, -S, HERE, hoard], axes: {vcpus: [1], memory: [64MiB]}}
"""

LONG = """
name: long
measure: {repeats: 1, seconds: 600, precision: 0.0001}
workloads:
  - {name: leaves, kind: command, command: [PYTHON, -S, HERE, daemon], axes: {vcpus: [0.5]}}
"""

THROTTLED = """
name: throttled
measure: {repeats: 1, seconds: 6, precision: 0.001}
disks: {slow: {emulate: {class: standard, read_iops: 400, read_mbps: 20}}}
workloads:
  - name: burns
    kind: command
    command: [PYTHON, -S, HERE, burn]
    axes: {vcpus: [0.5], memory: [64MiB], disk: [slow]}
"""


def burn(daemon: bool = False) -> None:
    """Steps of a fixed amount of computing, and what the kernel says of the group; `daemon` leaves a process behind."""
    descriptor = int(os.environ["SIZER_EVENTS_FD"])

    def tell(**fields: object) -> None:
        os.write(descriptor, (json.dumps(fields) + "\n").encode())

    group = GROUPS / Path("/proc/self/cgroup").read_text().rpartition("::/")[2].strip()
    limits = {file: read(group / file) for file in ("cpu.max", "memory.max", "memory.swap.max", "cpuset.cpus")}
    print(json.dumps({"group": str(group), "cpus": sorted(os.sched_getaffinity(0)), **limits}), flush=True)
    if daemon and os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        time.sleep(PATIENCE)
        os._exit(0)
    tell(event="start", sample_unit="turn", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
    while True:
        for _ in range(100_000):
            pass
        tell(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)


def hoard() -> None:
    """More memory than any cap here, a MiB at a time."""
    held = []
    while True:
        held.append(bytearray(b"x" * (1 << 20)))


def read(file: Path) -> str:
    """A file's text; empty where it is not there."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def typed(line: str, patience: float = PATIENCE) -> dict[str, Any]:
    """A line as it is typed into a shell: its exit status and what it printed."""
    begin = time.monotonic()
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=patience)
    seconds = round(time.monotonic() - begin, 1)
    print(f"$ {line}\n{done.stderr[-1500:]}[{done.returncode} after {seconds} s]", file=sys.stderr, flush=True)
    return {"line": line, "status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def doctor(line: str) -> dict[str, Any]:
    """What `sizer doctor --json`, typed so, tells of the controls, and how it ended."""
    shown = typed(line)
    try:
        answer = json.loads(shown["stdout"])
    except ValueError:
        return {**shown, "checks": {}}
    checks = {check["name"]: check for check in answer["checks"]}
    return {"line": line, "status": shown["status"], "limits": answer["host"]["limits"], "checks": checks}


def runs(folder: Path) -> list[dict[str, Any]]:
    """What the records of a study say, run by run."""
    ended_runs = []
    for file in sorted(folder.glob("runs/*.json")):
        run = json.loads(file.read_text())
        log = read(folder / "logs" / f"{file.stem}.log").splitlines()
        disk = run["disk"] or {}
        demand, rate = run["demand"], run["throughput"]
        cores = demand["core_seconds"] * rate["value"] if demand and rate else None
        ended_runs.append(
            {
                "workload": run["spec"]["workload"]["name"],
                "vcpus": run["spec"]["limits"]["vcpus"],
                "outcome": run["outcome"],
                "error": run["error"],
                "cores": cores,
                "limited_by": run["limited_by"],
                "inside": json.loads(log[0]) if log and log[0].startswith("{") else {},
                "measured": disk.get("measured"),
            }
        )
    return ended_runs


def study(name: str, text: str, line: str) -> dict[str, Any]:
    """A study written here and run by this line; how it ended, and its runs."""
    file = Path(f"{name}.yaml")
    file.write_text(text.replace("PYTHON", PYTHON).replace("HERE", HERE))
    shown = typed(line.replace("STUDY.yaml", str(file)))
    return {**shown, "stdout": shown["stdout"][-500:], "runs": runs(Path(name))}


def things_left() -> list[str]:
    """Groups, scopes, loop devices, mounts and processes of sizer that are still there."""
    groups = [
        group for group in glob.glob(f"{GROUPS}/**/", recursive=True) if Path(group).name in ("sizer", "supervisor")
    ]
    scopes = glob.glob(f"{GROUPS}/**/run-*.scope", recursive=True)
    loops = [file.split("/")[3] for file in glob.glob("/sys/block/loop*/loop/backing_file")]
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if "/dev/loop" in line]
    return [*groups, *scopes, *loops, *mounts, *(f"process {pid}" for pid in measured_processes())]


def measured_processes() -> list[int]:
    """The living processes of measured programs."""
    processes = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if words[2:3] == [HERE.encode()] and words[3:4] in ([b"burn"], [b"hoard"], [b"daemon"]):
                processes.append(int(entry.name))
    return processes


def settled() -> list[str]:
    """What is left after the second that systemd may take to remove an empty scope."""
    deadline = time.monotonic() + 10
    while (left := things_left()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return left


def killed(fix: str) -> dict[str, Any]:
    """A sizer killed with -9 in its scope: what it leaves, and what is left of that after the next start."""
    Path("long.yaml").write_text(LONG.replace("PYTHON", PYTHON).replace("HERE", HERE))
    sizer = subprocess.Popen(
        ["bash", "-c", f"exec {fix.replace('STUDY.yaml', 'long.yaml')}"], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + PATIENCE
    while len(measured_processes()) < 2 and sizer.poll() is None and time.monotonic() < deadline:
        time.sleep(0.5)
    time.sleep(2)
    sizer.kill()
    sizer.wait()
    before = things_left()
    again = study("again", DELEGATED.replace("delegated", "again").replace("[0.5, 1]", "[0.5]"), fix)
    return {"left_by_kill": before, "status": again["status"], "left": settled(), "stderr": again["stderr"][-800:]}


def person() -> dict[str, Any]:
    """The ordinary user's part: plainly, then by the very command that doctor tells."""
    plain = doctor("sizer doctor --json")
    fix = plain["checks"].get("fractional_vcpus", {}).get("fix") or "false"
    in_scope = fix.replace("run STUDY.yaml", "doctor --json")
    within = fix.replace("sizer run STUDY.yaml", "bash -c")
    Path("delegated.yaml").write_text(DELEGATED.replace("PYTHON", PYTHON).replace("HERE", HERE))
    return {
        "group": read(Path("/proc/self/cgroup")),
        "plain": plain,
        "refused": typed("sizer run delegated.yaml"),
        "scope": doctor(in_scope),
        "study": study("delegated", DELEGATED, fix),
        "left": settled(),
        "twice": doctor(f"{within} 'sizer doctor >/dev/null; sizer doctor --json'"),
        "undelegated": doctor("systemd-run --user --scope sizer doctor --json"),
        "killed": killed(fix),
        "disk_fix": plain["checks"].get("disk", {}).get("fix"),
        "by_disk_fix": study("throttled", THROTTLED, plain["checks"].get("disk", {}).get("fix") or "false"),
        "left_at_the_end": settled(),
    }


def host() -> dict[str, Any]:
    """Root's part, and in between the ordinary user's, in a session that PAM and logind open."""
    for name in (PERSON, SERVICE):
        typed(f"useradd --create-home --shell /bin/bash {name}")
        Path(f"/etc/sudoers.d/{name}").write_text(f"{name} ALL=(ALL) NOPASSWD: ALL\n")
    login = f"systemd-run --quiet --wait --pipe --collect --uid={PERSON} -p PAMName=login"
    command = f"{login} -p WorkingDirectory=/home/{PERSON} {PYTHON} {HERE} person"
    theirs = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, text=True)
    os.chdir("/root")
    os.environ["HOME"] = "/root"
    scope = "systemd-run --quiet --scope sizer run STUDY.yaml"
    return {
        "systemd": typed("systemctl --version")["stdout"].splitlines()[0],
        "kernel": os.uname().release,
        "state": typed("systemctl is-system-running")["stdout"].strip(),
        "person": json.loads(theirs.stdout or "{}"),
        "no_session": no_session(),
        "root_scope": study("throttled", THROTTLED, scope),
        "root_scope_left": settled(),
        "root_plain": reloaded("sizer run STUDY.yaml"),
        "root_plain_left": settled(),
    }


def no_session() -> list[dict[str, Any]]:
    """A user of a service, without a session: plainly, then by the command that doctor tells."""

    def as_service(line: str) -> str:
        become = f"setpriv --reuid={SERVICE} --regid={SERVICE} --init-groups"
        return f"cd ~{SERVICE} && {become} env -i PATH=$PATH HOME=/home/{SERVICE} bash -c '{line}'"

    plain = doctor(as_service("sizer doctor --json"))
    fix = plain["checks"].get("memory", {}).get("fix") or "false"
    return [plain, doctor(as_service(fix.replace("run STUDY.yaml", "doctor --json")))]


def reloaded(line: str) -> dict[str, Any]:
    """Root's study, plainly, while systemd reads its units again and sets the groups of others."""
    stop = threading.Event()

    def disturb() -> None:
        while not stop.wait(5):
            typed("systemctl daemon-reload; systemd-run --quiet --wait -p MemoryMax=1G -p CPUQuota=50% true")

    disturbing = threading.Thread(target=disturb)
    disturbing.start()
    try:
        return study("plain", THROTTLED.replace("throttled", "plain"), line)
    finally:
        stop.set()
        disturbing.join()


def main() -> None:
    part = sys.argv[1]
    if part == "hoard":
        hoard()
    elif part in ("burn", "daemon"):
        burn(daemon=part == "daemon")
    elif part == "person":
        print(json.dumps(person()))
    else:
        Path(sys.argv[2]).write_text(json.dumps(host()) + "\n")


if __name__ == "__main__":
    main()
