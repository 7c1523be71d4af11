"""The page that is served: the one on the disk, its policy widened by what takes a newer one."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

import pytest

from sizer.bundled.reports.page import render
from sizer.bundled.reports.policy import page_policy
from sizer.bundled.reports.server.live_page import LivePage, Sentences, Served, made_live
from sizer.bundled.reports.subject import Material

SENTENCES = Sentences('wait <for> "it"', "there is more", 'show "it"', "it has <ended>", "en")


@pytest.fixture(scope="module")
def page(material: Material) -> str:
    return render(material)


def digests(served: Served, tag: str) -> set[str]:
    """Of the style or the scripts that a page holds; JSON in a script is data."""
    scripts = rf'<{tag}(?! type="application/json")(?: [^>]*)?>(.*?)</{tag}>'
    texts = re.findall(scripts, served.content.decode(), re.DOTALL)
    return {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts}


def rules(served: Served) -> dict[str, set[str]]:
    """The policy by its directives."""
    named = (rule.split() for rule in served.policy.split(";"))
    return {name: set(values) for name, *values in named}


def test_the_page_on_the_disk_is_shown_with_a_script_of_its_own(page: str) -> None:
    """All of it stays but its policy, which moves to the head of the answer."""
    served = made_live(page, SENTENCES, page_policy)
    text = served.content.decode()
    assert "http-equiv" not in text
    head, _, rest = page.partition('<meta http-equiv="Content-Security-Policy"')
    body = rest.partition(">")[2].rpartition("</body>")[0]
    assert text.startswith(head + body)
    assert text.count("</body>") == 1


def test_its_policy_allows_what_is_in_it_and_nothing_else(page: str) -> None:
    """Styles and scripts by digest, the question for a newer page, and no frame of anybody's."""
    served = made_live(page, SENTENCES, page_policy)
    assert rules(served) == {
        "default-src": {"'none'"},
        "style-src": digests(served, "style"),
        "script-src": digests(served, "script"),
        "connect-src": {"'self'"},
        "base-uri": {"'none'"},
        "form-action": {"'none'"},
        "frame-ancestors": {"'none'"},
        "style-src-attr": {"'none'"},
        "script-src-attr": {"'none'"},
    }
    assert len(digests(served, "script")) == len(digests(served, "style")) == 2


@pytest.mark.parametrize(
    "policy",
    [
        "default-src *",
        "script-src-elem 'unsafe-inline'",
        "default-src *\r\nSet-Cookie: a=b",
        "script-src a, script-src *",
    ],
)
def test_the_policy_is_that_of_this_sizer(page: str, policy: str) -> None:
    """Whatever the text of a page says of its own."""
    theirs = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><script>alert(1)</script></body>'
    served = made_live(theirs, SENTENCES, page_policy)
    assert served.policy == made_live(page, SENTENCES, page_policy).policy
    assert digests(served, "script") - rules(served)["script-src"]


def test_without_a_file_there_is_a_page_that_waits(tmp_path: Path) -> None:
    """Until there is one; then it is another page, with another tag."""
    page = LivePage(tmp_path / "report.html", SENTENCES, page_policy)
    waiting = page.now()
    assert "wait &lt;for&gt; &quot;it&quot;" in waiting.content.decode()
    assert page.now() is waiting
    (tmp_path / "report.html").write_text("<p>one</p></body>")
    first = page.now()
    assert b"<p>one</p>" in first.content
    assert len({waiting.tag, first.tag}) == 2
    assert page.now() is first
    (tmp_path / "aside").write_text("<p>two</p></body>")
    os.replace(tmp_path / "aside", tmp_path / "report.html")
    assert b"<p>two</p>" in page.now().content


def test_a_page_that_was_there_before_is_not_shown(tmp_path: Path) -> None:
    """A study folder comes from other people, too; one that is written since is this host's."""
    (tmp_path / "report.html").write_text("<p>before</p></body>")
    page = LivePage(tmp_path / "report.html", SENTENCES, page_policy)
    assert b"wait" in page.now().content
    assert page.is_awaited()
    (tmp_path / "aside").write_text("<p>since</p></body>")
    os.replace(tmp_path / "aside", tmp_path / "report.html")
    assert b"<p>since</p>" in page.now().content
    assert not page.is_awaited()


def test_what_a_stranger_put_there_is_not_followed(tmp_path: Path) -> None:
    """A link, a pipe or a folder in the file's place shows nothing."""
    (tmp_path / "secret").write_text("secret")
    for number, put in enumerate(
        (
            lambda path: path.symlink_to(tmp_path / "secret"),
            lambda path: os.mkfifo(path),
            lambda path: path.mkdir(),
        )
    ):
        path = tmp_path / f"report{number}.html"
        page = LivePage(path, SENTENCES, page_policy)
        put(path)
        assert b"wait" in page.now().content


def test_whoever_asks_looks_at_it(tmp_path: Path) -> None:
    """For some time."""
    page = LivePage(tmp_path / "report.html", SENTENCES, page_policy)
    assert not page.is_watched(1e9)
    page.now()
    assert page.is_watched(10)
    assert not page.is_watched(0)
