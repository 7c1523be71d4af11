"""As whom the measured program runs, and with mounts of its own."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizer.records.messages import HostError

ME = "me"
"""`run_as` of a study file: who started sizer, which under sudo is who typed it."""

OWN_MOUNTS = ("unshare", "--mount", "--propagation", "slave", "--")
"""What the host mounts, such as a home that is mounted when it is first used, is seen inside; what is mounted inside is
seen nowhere else and ends with the last process (mount_namespaces(7))."""

NOBODYS_GROUP = 65_534
"""A group without members (its name is nogroup): what is done for another user has the rights of none."""

NO_USER = (1 << 32) - 1
"""The last number, which is nobody's (chown(2))."""

ASKING_SECONDS = 600.0
"""For a walk over all files of a data set."""


@dataclass(frozen=True)
class RunUser:
    """A user of this host, by whom runs are made; by default the one that sizer itself runs as."""

    name: str
    uid: int
    gid: int
    home: str
    is_listed: bool = True
    """Users of containers and services, and those that were removed, are in no file: they have no groups but one."""

    @property
    def is_ours(self) -> bool:
        """Whether it is the one that sizer runs as."""
        return self.uid == os.geteuid()

    @property
    def becoming(self) -> tuple[str, ...]:
        """The command that gives what follows it the rights of this user, and all groups that it is in."""
        if self.is_ours:
            return ()
        groups = "--init-groups" if self.is_listed else "--clear-groups"
        return ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", groups, "--")

    def environment(self, ours: Mapping[str, str]) -> Mapping[str, str]:
        """Our environment with the home and the name of this user."""
        return ours if self.is_ours else {**ours, "HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    def let_in(self, folder: Path) -> None:
        """Let this user pass through a folder of ours to what is theirs in it."""
        if not self.is_ours:
            folder.chmod(0o711)

    def own(self, path: Path) -> None:
        """Give a file or folder, with all that is in it, to this user."""
        if not self.is_ours:
            _give(path, self.uid, self.gid)

    @contextmanager
    def lent(self, folder: Path) -> Iterator[Path]:
        """A folder that is made for this user alone, and at a good end ours, with all that is in it."""
        folder.mkdir(mode=0o700)
        self.let_in(folder.parent)
        self.own(folder)
        yield folder
        _give(folder, os.geteuid(), os.getegid())

    def check_reads(self, path: Path) -> None:
        """Raises HostError that names the first file or folder there which this user cannot read."""
        closed = ["(", "!", "-readable", "-o", "-type", "d", "!", "-executable", ")"]
        # What find says besides, such as of a link that leads in a circle, keeps nobody from reading.
        unread = self._answer("find", "-L", str(path), "!", "-type", "l", *closed, "-print", "-quit").stdout
        if unread or self._answer("test", "-r", str(path)).returncode:
            raise HostError(
                "{user}, as whom the runs are made, cannot read {path}; let this user read it, or write `run_as: root` "
                "into the study file.",
                user=self.name,
                path=unread.rstrip("\n") or path,
            )

    def check_enters(self, folder: Path) -> None:
        """Raises HostError where this user cannot enter the folder."""
        if self._answer("test", "-x", str(folder)).returncode:
            raise HostError(
                "{user}, as whom the runs are made, cannot enter {folder}; let this user enter it and those above it, "
                "or write `run_as: root` into the study file.",
                user=self.name,
                folder=folder,
            )

    def _answer(self, *question: str) -> subprocess.CompletedProcess[str]:
        """What a program says that has the rights of this user. Raises HostError where there is no answer."""
        if self.is_ours:
            return subprocess.CompletedProcess(question, 0, "", "")
        try:
            done = subprocess.run(
                [*self.becoming, *question],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                timeout=ASKING_SECONDS,
                cwd="/",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HostError(
                "What {user}, as whom the runs are made, can read could not be asked ({error}).",
                user=self.name,
                error=str(error),
            ) from error
        if done.stderr.startswith("setpriv: "):
            raise HostError(
                "Runs cannot be made as {user} ({reason}); write another one as `run_as`.",
                user=self.name,
                reason=done.stderr.strip(),
            )
        return done


def run_user(asked: str = ME) -> RunUser:
    """The user that `run_as` names. Raises HostError where this host has none of the name, or we may not become it."""
    if asked == ME:
        return _who_typed()
    try:
        user = _listed(pwd.getpwnam(asked))
    except KeyError:
        raise HostError("This host has no user {name}; write another one as `run_as`.", name=asked) from None
    if os.geteuid() not in (0, user.uid):
        raise HostError(
            "Only root can make runs as {name}; type sudo $(command -v sizer) and the rest of the command, or write "
            "`run_as: me`.",
            name=asked,
        )
    return user


def _who_typed() -> RunUser:
    """Who started sizer, under sudo who typed it. Raises HostError where SUDO_UID or SUDO_GID is no number of one."""
    uid = _number("UID", os.geteuid())
    try:
        return _listed(pwd.getpwuid(uid))
    except KeyError:
        if uid == os.geteuid():
            return RunUser(str(uid), uid, os.getegid(), os.environ.get("HOME", "/"), is_listed=False)
        return RunUser(str(uid), uid, _number("GID", NOBODYS_GROUP), "/", is_listed=False)


def _listed(entry: pwd.struct_passwd) -> RunUser:
    return RunUser(entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir)


def _give(path: Path, uid: int, gid: int) -> None:
    os.chown(path, uid, gid, follow_symlinks=False)
    for _, folders, files, descriptor in os.fwalk(path):
        for name in (*folders, *files):
            os.chown(name, uid, gid, dir_fd=descriptor, follow_symlinks=False)


def _number(what: str, ours: int) -> int:
    """SUDO_UID or SUDO_GID where we are root, else what is ours. Raises HostError for what is no number of a user."""
    variable = f"SUDO_{what}"
    text = os.environ.get(variable, "") if os.geteuid() == 0 else ""
    if not text:
        return ours
    number = int(text[:20]) if text.isascii() and text.isdigit() else NO_USER
    if number >= NO_USER:
        raise HostError(
            "{variable} is {said}, which is no number of a user or group; write `run_as: NAME` into the study file.",
            variable=variable,
            said=repr(text[:40]),
        )
    return number


@cache
def has_own_mounts() -> bool:
    """Whether this host lets a run have mounts of its own. Only root can mount, so nobody else needs it."""
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run([*OWN_MOUNTS, "true"], capture_output=True, timeout=ASKING_SECONDS).returncode == 0
    except OSError:
        return False
