"""The page that a file holds, with a script that takes a newer one by itself. The file stays as it is.

The page's own policy moves from its text into the answer's head, where the style and the script that are added get
their place in it by their digest. A page without such a policy runs no script, not even these.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from sizer.files import read_file
from sizer.records import SizerError

POLICY = re.compile(r"""<meta http-equiv="Content-Security-Policy" content="([\w'+/=:;. -]*)">""", re.ASCII)
"""As the page has it, of what sources and digests are made of."""

WAITING_POLICY = "default-src 'none'"

ADDED_RULES = {"connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'"}
"""It may ask this server whether there is a newer page; nobody else's page may show it in a frame."""

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
    """The page in a file as it is now, or one that says that there is none yet."""

    def __init__(self, path: Path, sentences: Sentences) -> None:
        self._path = path
        self._sentences = sentences
        self._known: tuple[tuple[int, int, int] | None, Served] | None = None
        self._asked = NEVER

    def now(self) -> Served:
        """Whoever asks for it looks at it. Read only when the file has changed."""
        self._asked = time.monotonic()
        facts = self._facts()
        known = self._known
        if known is None or known[0] != facts:
            self._known = known = facts, self._read()
        return known[1]

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

    def _read(self) -> Served:
        try:
            page = read_file(self._path).decode("utf-8", "replace")
        except (OSError, SizerError):
            return made_live(_waiting(self._sentences), self._sentences)
        return made_live(page, self._sentences)


def made_live(page: str, sentences: Sentences) -> Served:
    """Pure: the page with the script that watches for a newer one, and the policy under which it is shown."""
    tag = f'"{hashlib.sha256(page.encode("utf-8", "backslashreplace")).hexdigest()[:32]}"'
    style, script = _bundled("live.css"), _bundled("live.js")
    found = POLICY.search(page)
    policy = found[1] if found else WAITING_POLICY
    if found:
        page = page[: found.start()] + page[found.end() :]
    said = {"tag": tag, "changed": sentences.changed, "take": sentences.take, "gone": sentences.gone}
    attributes = " ".join(f'data-{name}="{escape(text)}"' for name, text in said.items())
    added = f"<style>{style}</style>\n<script {attributes}>{script}</script>\n"
    before, end, after = page.rpartition("</body>")
    page = f"{before}{added}{end}{after}" if end else f"{page}{added}"
    return Served(page.encode("utf-8", "backslashreplace"), _widened(policy, style, script), tag)


def _widened(policy: str, style: str, script: str) -> str:
    """The policy with our own style and script beside those of the page, and what holds for a page that is served."""
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";") if rule.strip())
    for name, text in (("style-src", style), ("script-src", script)):
        before = rules.get(name, "")
        # Pages of older versions allow all their styles; beside a digest that would hold no more.
        rules[name] = before if "'unsafe-inline'" in before else f"{before} {_digest(text)}".strip()
    return "; ".join(f"{name} {value}" for name, value in {**rules, **ADDED_RULES}.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _waiting(sentences: Sentences) -> str:
    """A page for as long as there is none."""
    return (
        f'<!doctype html>\n<html lang="{escape(sentences.language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>sizer</title>\n</head>\n'
        f'<body class="live-waiting">\n<main><p>{escape(sentences.waiting)}</p></main>\n</body>\n</html>\n'
    )


def _bundled(name: str) -> str:
    return files("sizer.server").joinpath(name).read_text("utf-8")
