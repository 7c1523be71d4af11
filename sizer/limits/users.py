"""As whom the measured program runs, and with mounts of its own."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizer.records import HostError

ME = "me"
"""`run_as` of a study file: who started sizer, which under sudo is who typed it."""

OWN_MOUNTS = ("unshare", "--mount", "--propagation", "slave", "--")
"""What the host mounts, such as a home that is mounted when it is first used, is seen inside; what is mounted inside is
seen nowhere else and ends with the last process (mount_namespaces(7))."""

ASKING_SECONDS = 600.0
"""For a walk over all files of a data set."""


@dataclass(frozen=True)
class RunUser:
    """A user of this host, by whom runs are made; by default the one that sizer itself runs as."""

    name: str
    uid: int
    gid: int
    home: str

    @property
    def is_ours(self) -> bool:
        """Whether it is the one that sizer runs as."""
        return self.uid == os.geteuid()

    def command(self, argv: Sequence[str]) -> list[str]:
        """`argv` with the rights of this user, and all groups that it is in."""
        if self.is_ours:
            return list(argv)
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups", "--", *argv]

    def environment(self, ours: Mapping[str, str]) -> Mapping[str, str]:
        """Our environment with the home and the name of this user."""
        return ours if self.is_ours else {**ours, "HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    def let_in(self, folder: Path) -> None:
        """Let this user pass through a folder of ours to what is theirs in it."""
        if not self.is_ours:
            folder.chmod(0o711)

    def own(self, path: Path) -> None:
        """Give a file or folder, with all that is in it, to this user."""
        if self.is_ours:
            return
        os.chown(path, self.uid, self.gid, follow_symlinks=False)
        for _, folders, files, descriptor in os.fwalk(path):
            for name in (*folders, *files):
                os.chown(name, self.uid, self.gid, dir_fd=descriptor, follow_symlinks=False)

    def check_reads(self, path: Path) -> None:
        """Raises HostError that names the first file or folder there which this user cannot read."""
        if self.is_ours:
            return
        question = ["find", "-L", str(path), "(", "!", "-readable", "-o", "-type", "d", "!", "-executable", ")"]
        asked = subprocess.run(
            self.command([*question, "-print", "-quit"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASKING_SECONDS,
            cwd="/",
        )
        if asked.returncode or asked.stdout:
            raise HostError(
                "{user}, as whom the runs are made, cannot read {path}; let this user read it, or write `run_as: root` "
                "into the study file.",
                user=self.name,
                path=asked.stdout.rstrip("\n") or path,
            )


def run_user(asked: str = ME) -> RunUser:
    """The user that `run_as` names. Raises HostError where this host has none of the name, or we may not become it."""
    sudo = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    uid = int(sudo) if sudo.isdecimal() else os.geteuid()
    try:
        found = pwd.getpwuid(uid) if asked == ME else pwd.getpwnam(asked)
    except KeyError:
        if asked == ME:
            # Users of containers and services are often in no file.
            return RunUser(str(uid), uid, os.getegid(), os.environ.get("HOME", "/"))
        raise HostError("This host has no user {name}; write another one as `run_as`.", name=asked) from None
    user = RunUser(found.pw_name, found.pw_uid, found.pw_gid, found.pw_dir)
    if os.geteuid() not in (0, user.uid):
        raise HostError(
            "Only root can make runs as {name}; type sudo $(command -v sizer) and the rest of the command, or write "
            "`run_as: me`.",
            name=asked,
        )
    return user


@cache
def has_own_mounts() -> bool:
    """Whether this host lets a run have mounts of its own. Only root can mount, so nobody else needs it."""
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run([*OWN_MOUNTS, "true"], capture_output=True, timeout=ASKING_SECONDS).returncode == 0
    except OSError:
        return False
