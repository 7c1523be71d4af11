"""A folder of this user's own: no link, of no other user, with nothing in it that leads elsewhere or never ends.

Whoever owns a folder, or may write into it, can put a link in the place of a file that is written, a pipe that no
reader gets to the end of, or another command into the study. Git trusts a repository by the same rule ("dubious
ownership").
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from sizer.records.messages import HostError, InputError, Message, typed_path

LARGEST_FILE = 256 * 2**20
"""Bytes of the largest file that is read from a study folder; a run of an hour with 50 steps a second takes 20 MB."""

Place = tuple[int, int]
"""Device and inode of a folder: by these it is known again, whatever is put in its path's place."""


def check_folder(path: Path) -> None:
    """Raise InputError unless `path` is a folder by itself, of this user, into which not everybody may write.

    FileNotFoundError where there is nothing.
    """
    facts = path.lstat()
    if stat.S_ISLNK(facts.st_mode):
        raise InputError(
            "{path} is a link; give the study folder that it points to: {target}",
            path=path,
            target=typed_path(os.path.realpath(path)),
        )
    if not stat.S_ISDIR(facts.st_mode):
        raise InputError("{path} is a file; choose a folder with --out.", path=path)
    if facts.st_uid not in _ours():
        raise _somebody_elses(path, facts, path)
    _refuse_open_to_everybody(path, facts)


def check_content(path: Path, folders: Iterable[str], files: Iterable[str]) -> None:
    """Raise InputError where one of these in the folder `path` is a link, a pipe, a device, or another user's.

    Of `folders` everything in them is looked at, too. A folder in a file's place passes: who reads the file says so.
    """
    for name in files:
        _check_entry(path / name, path)
    for name in folders:
        inner = path / name
        facts = _check_entry(inner, path)
        if facts is None:
            continue
        if not stat.S_ISDIR(facts.st_mode):
            raise InputError(
                "{path} is a file where a folder should be; remove it and type the command again.", path=inner
            )
        with os.scandir(inner) as entries:
            content = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
        for where, status in content:
            _check_facts(where, status, path)


def check_own_cache(cache: Path) -> None:
    """Raise InputError where `cache`, a folder above it or anything in it may be changed by others than this user and
    root. It needs not be there yet.

    A link in it is looked at by its own owner: in a folder that nobody else may write to, nobody else has made it. What
    is mounted in it is left out: it is a volume of a sizer that lives.
    """
    for above in cache.parents:
        with suppress(OSError):
            _check_above(above, above.stat(), cache)
    device: int | None = None
    to_do = [cache]
    while to_do:
        path = to_do.pop()
        with suppress(OSError):  # Removed meanwhile, or root's alone. Whoever needs what cannot be read says so.
            facts = path.lstat()
            device = facts.st_dev if device is None else device
            if facts.st_dev != device:
                continue
            if not stat.S_ISLNK(facts.st_mode):
                _check_facts(path, facts, None)
            elif not _is_trusted(facts):
                raise _somebody_elses(path, facts, None)
            if stat.S_ISDIR(facts.st_mode):
                to_do += path.iterdir()


def _check_above(folder: Path, facts: os.stat_result, cache: Path) -> None:
    """Whoever may write to a folder can put another one in the place of what lies in it, unless it is sticky, as /tmp
    is. Who owns `/` is root, whom a user namespace shows as nobody."""
    if not _is_trusted(facts) and facts.st_uid != Path("/").stat().st_uid:
        raise _somebody_elses(folder, facts, None)
    if facts.st_mode & stat.S_IWOTH and not facts.st_mode & stat.S_ISVTX:
        raise InputError(
            "Everybody can write to {folder}, so that the cache {cache} can be replaced; set SIZER_CACHE to a folder "
            "that is yours alone.",
            folder=folder,
            cache=cache,
        )


def open_folder(path: Path, place: Place | None = None) -> int:
    """A descriptor of the folder at `path`. Raises OSError, and HostError where it is not the one at `place`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    if place is not None and place_of(descriptor) != place:
        os.close(descriptor)
        raise HostError(
            "{path} is no longer the folder that sizer began to write to: another folder or a link lies in its place. "
            "Put that folder back and type the command again.",
            path=path,
        )
    return descriptor


def place_of(descriptor: int) -> Place:
    """Where the folder lies that is open."""
    facts = os.fstat(descriptor)
    return facts.st_dev, facts.st_ino


def read_file(path: Path) -> bytes:
    """The content of a plain file, without following a link or waiting for a pipe.

    Raises InputError where it is no plain file or larger than any that sizer writes, FileNotFoundError where there is
    none, HostError where it cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise _elsewhere(path, Message("a link")) from None
        raise HostError("{path} cannot be read ({reason}).", path=path, reason=error.strerror) from error
    facts = os.fstat(descriptor)
    if stat.S_ISDIR(facts.st_mode):
        os.close(descriptor)
        raise HostError("{path} is a folder where a file should be; move it away.", path=path)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(facts.st_mode):
            raise _elsewhere(path, Message("not a regular file"))
        if facts.st_size > LARGEST_FILE:
            raise InputError(
                "{path} has {size} bytes, more than any file that sizer writes; move it away.",
                path=path,
                size=f"{facts.st_size:,}",
            )
        return file.read(LARGEST_FILE)


def open_lock(path: Path) -> int:
    """A descriptor of the file at `path`, made where there is none; OSError where it is a link or cannot be opened."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(path, flags, 0o664)


def make_folder(path: Path) -> None:
    """The folder and those above it, where they are not there yet; never one that everybody may write into."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o775, exist_ok=True)


def _check_entry(path: Path, folder: Path) -> os.stat_result | None:
    """What is there, None for nothing; InputError where it is neither a plain file nor a folder, or another user's."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    _check_facts(path, facts, folder)
    return facts


def _check_facts(path: Path | str, facts: os.stat_result, study: Path | None) -> None:
    """The same of an entry that was looked at, in the folder of a study or, for None, in the cache."""
    if stat.S_ISLNK(facts.st_mode):
        raise _elsewhere(path, Message("a link"))
    if not stat.S_ISREG(facts.st_mode) and not stat.S_ISDIR(facts.st_mode):
        raise _elsewhere(path, Message("not a regular file"))
    if not _is_trusted(facts):
        raise _somebody_elses(path, facts, study)
    _refuse_open_to_everybody(path, facts)


def _is_trusted(facts: os.stat_result) -> bool:
    """What root wrote into a user's own folder, as by `sudo sizer resume`, is no danger: root needs no such trick."""
    return facts.st_uid == 0 or facts.st_uid in _ours()


def _refuse_open_to_everybody(path: Path | str, facts: os.stat_result) -> None:
    """Group-writable is what umask 002 makes for a user whose group is their own; world-writable is never meant."""
    if not facts.st_mode & stat.S_IWOTH:
        return
    from sizer.files.given_files import WITHOUT_PERMISSIONS, kind_of_file_system

    kind = kind_of_file_system(Path(path))
    if kind in WITHOUT_PERMISSIONS:
        raise InputError(
            "Everybody can write to {path}, and {kind} keeps no permissions; mount it with the option umask=022, or "
            "choose a folder on another disk.",
            path=path,
            kind=kind,
        )
    raise InputError("Everybody can write to {path}; type: chmod -R o-w {typed}", path=path, typed=typed_path(path))


def _ours() -> frozenset[int]:
    """The users whose folders are this one's own: itself, and for root by sudo the one who typed sudo."""
    user, asked_by = os.geteuid(), os.environ.get("SUDO_UID", "")
    return frozenset({user, int(asked_by)} if user == 0 and asked_by.isdecimal() else {user})


def _somebody_elses(path: Path | str, facts: os.stat_result, study: Path | None) -> InputError:
    owner, user = user_name(facts.st_uid), user_name(os.geteuid())
    if study is None:
        return InputError(
            "{path} belongs to {owner}, not to {user}, and what lies in the cache is trusted; set SIZER_CACHE to a "
            "folder that is yours alone.",
            path=path,
            owner=owner,
            user=user,
        )
    return InputError(
        "{path} belongs to {owner}, not to {user}. If you trust everything in it, make your own copy and use that: "
        "cp -r {folder} my-study",
        path=path,
        owner=owner,
        user=user,
        folder=typed_path(study),
    )


def user_name(user: int) -> str | Message:
    """What a user is called."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return Message("user {number}", number=user)


def _elsewhere(path: Path | str, what: Message) -> InputError:
    return InputError(
        "{path} is {what} where sizer keeps a file of its own; remove it and type the command again.",
        path=path,
        what=what,
    )


SYSTEM_CACHE = Path("/var/cache")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """SIZER_CACHE, or the user's cache folder (XDG base directories), without links.

    Root's is the system's (FHS 3.0, 5.5): nobody else can look into root's home, and runs are made by others, too.
    Raises HostError for a user without a home folder, such as a service's.
    """
    try:
        if environment.get("SIZER_CACHE"):
            return Path(environment["SIZER_CACHE"]).expanduser().resolve()
        base = Path(environment.get("XDG_CACHE_HOME", ""))
        # A relative one is to be ignored: it would be a folder of whoever made the one that we are in.
        if not base.is_absolute():
            base = Path.home() / ".cache" if os.geteuid() else SYSTEM_CACHE
    except RuntimeError as error:
        raise HostError(
            "This user has no home folder for data sets; set SIZER_CACHE to a folder that you may write to."
        ) from error
    return (base / "sizer").resolve()
