"""The page that a file holds, with a script that takes a newer one by itself. The file stays as it is.

What is shown was written since this began: a page that was there before may be anybody's, as a study folder comes from
other people, too. And it is shown under the policy of this sizer, whatever its text says: no script runs but that of a
page which this sizer draws, and the one that is added here.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from sizer.files.own_folder import read_file
from sizer.records.messages import SizerError

Policy = Callable[[tuple[str, ...], tuple[str, ...]], str]
"""The policy of a page of this sizer, with further styles and scripts in it."""

SERVED_RULES = (
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src-attr 'none'; "
    "script-src-attr 'none'"
)
"""Of a page that is served, too. It may ask this server whether there is a newer page; nobody shows it in a frame."""

NEVER = float("-inf")


@dataclass(frozen=True)
class Sentences:
    """What the page says of itself while it is live; `language` is that of a page which is not there yet."""

    waiting: str
    changed: str
    take: str
    gone: str
    language: str


@dataclass(frozen=True)
class Served:
    """One answer: the page, its policy, and a tag that is another one once the page is."""

    content: bytes
    policy: str
    tag: str


class LivePage:
    """The page in a file as it is now, if it was written since this was made; else one that says that it comes."""

    def __init__(self, path: Path, sentences: Sentences, page_policy: Policy) -> None:
        self._path = path
        self._sentences = sentences
        self._policy = page_policy
        self._before = self._facts()
        self._served: tuple[tuple[int, int, int] | None, Served] | None = None
        self._asked = NEVER

    def now(self) -> Served:
        """Whoever asks for it looks at it. Read only when the file has changed."""
        self._asked = time.monotonic()
        facts = self._facts()
        kept = self._served
        if kept is None or kept[0] != facts:
            page = _waiting(self._sentences) if facts == self._before else self._read()
            self._served = kept = facts, made_live(page, self._sentences, self._policy)
        return kept[1]

    def is_awaited(self) -> bool:
        """Whether none has been written yet that is shown."""
        return self._facts() == self._before

    def is_watched(self, seconds: float) -> bool:
        """Whether somebody asked for it in the last so many seconds."""
        return time.monotonic() - self._asked < seconds

    def _facts(self) -> tuple[int, int, int] | None:
        """What tells one writing of the file from another."""
        try:
            facts = self._path.lstat()
        except OSError:
            return None
        return facts.st_ino, facts.st_mtime_ns, facts.st_size

    def _read(self) -> str:
        try:
            return read_file(self._path).decode("utf-8", "replace")
        except (OSError, SizerError):
            return _waiting(self._sentences)


def made_live(page: str, sentences: Sentences, page_policy: Policy) -> Served:
    """Pure: the page with the script that watches for a newer one, and the policy under which it is shown."""
    tag = f'"{hashlib.sha256(page.encode("utf-8", "backslashreplace")).hexdigest()[:32]}"'
    style, script = _bundled("live.css"), _bundled("live.js")
    data = {"tag": tag, "changed": sentences.changed, "take": sentences.take, "gone": sentences.gone}
    attributes = " ".join(f'data-{name}="{escape(text)}"' for name, text in data.items())
    added = f"<style>{style}</style>\n<script {attributes}>{script}</script>\n"
    # Its own policy knows neither of the two; the answer's head has one that does.
    page = page.replace(f'<meta http-equiv="Content-Security-Policy" content="{page_policy((), ())}">', "", 1)
    before, end, after = page.rpartition("</body>")
    page = f"{before}{added}{end}{after}" if end else f"{page}{added}"
    policy = f"{page_policy((style,), (script,))}; {SERVED_RULES}"
    return Served(page.encode("utf-8", "backslashreplace"), policy, tag)


def _waiting(sentences: Sentences) -> str:
    """A page for as long as there is none."""
    return (
        f'<!doctype html>\n<html lang="{escape(sentences.language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>sizer</title>\n</head>\n'
        f'<body class="live-waiting">\n<main><p>{escape(sentences.waiting)}</p></main>\n</body>\n</html>\n'
    )


def _bundled(name: str) -> str:
    return files("sizer.bundled.reports.server").joinpath(name).read_text("utf-8")
