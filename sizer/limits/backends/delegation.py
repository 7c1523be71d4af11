"""Groups of cgroup v2 that systemd has handed to an ordinary user, and what he types for those that it has not."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sizer.limits.interface import Control, Rerun
from sizer.limits.tree import Tree

AS_ROOT = Rerun("sudo $(command -v sizer)")
"""By its path: sudo looks into folders of its own, where no virtual environment is."""

SCOPE = Rerun("systemd-run --user --scope -p Delegate=yes sizer")

MANAGER, UNIT = re.compile(r"user@\d+\.service"), re.compile(r".+\.(scope|service)")
"""The group of a user's systemd, and those that it makes below for programs."""

SYSTEMCTL_SECONDS = 10.0


def fixes(tree: Tree) -> dict[Control, Rerun]:
    """The command for each control, for a user to whom no group is handed over.

    systemd hands users cpu, memory and pids but not io (user@.service), and throttled disks need loop devices, which
    are root's.
    """
    scope = scope_command(tree, os.geteuid(), os.environ)
    return {
        Control.VCPUS: AS_ROOT,
        Control.FRACTIONAL_VCPUS: scope,
        Control.MEMORY: scope,
        Control.DISK: AS_ROOT,
    }


def scope_command(tree: Tree, user: int, environment: Mapping[str, str]) -> Rerun:
    """What runs sizer in a scope that the user's own systemd hands over; as root where no systemd is the init.

    `su`, `sudo -u` and services open no session: then the user's manager may not run, and its socket is not known.
    """
    if not tree.path("/run/systemd/system").is_dir():  # sd_booted(3)
        return AS_ROOT
    if not tree.path(f"/run/user/{user}/systemd/private").exists():
        return Rerun(f"sudo systemctl start user@{user} && XDG_RUNTIME_DIR=/run/user/{user} {SCOPE.prefix}")
    if not environment.get("XDG_RUNTIME_DIR"):
        return Rerun(f"XDG_RUNTIME_DIR=/run/user/{user} {SCOPE.prefix}")
    return SCOPE


def is_kept(group: Path, top: Path) -> bool:
    """Whether the user's systemd keeps this group for itself, as that of a desktop's terminal.

    The user may write there, and so could we; but the shell and whatever else lives in it would have to move, and
    systemd asks that groups which it has not handed over are left to it (systemd.io, CGROUP_DELEGATION).
    """
    names = group.relative_to(top).parts
    manager = next((at for at, name in enumerate(names) if MANAGER.fullmatch(name)), None)
    if manager is None:
        return False
    unit = next((name for name in names[manager + 1 :] if UNIT.fullmatch(name)), None)
    return unit is None or not hands_over(unit)


def hands_over(unit: str) -> bool:
    """Whether the user's systemd has handed a unit's group over; True where it cannot be asked.

    It has to be asked: the mark on the group (`user.delegate`) is the system's manager's alone (systemd 252).
    """
    folder = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"
    question = ["systemctl", "--user", "show", "--property=Delegate", "--value", unit]
    try:
        shown = subprocess.run(
            question,
            env={**os.environ, "XDG_RUNTIME_DIR": folder},
            capture_output=True,
            text=True,
            timeout=SYSTEMCTL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return shown.stdout.strip() != "no"
