"""The page that is served: the one on the disk, its policy widened by what takes a newer one."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

import pytest

from sizer.bundled.reports import Material, render
from sizer.server.live_page import LivePage, Sentences, Served, made_live

SENTENCES = Sentences('wait <for> "it"', "there is more", 'show "it"', "it has <ended>", "en")


@pytest.fixture(scope="module")
def page(material: Material) -> str:
    return render(material)


def digests(served: Served, tag: str) -> set[str]:
    """Of the style or the scripts that a page holds; JSON in a script is data."""
    scripts = rf'<{tag}(?! type="application/json")(?: [^>]*)?>(.*?)</{tag}>'
    found = re.findall(scripts, served.content.decode(), re.DOTALL)
    return {f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in found}


def rules(served: Served) -> dict[str, set[str]]:
    """The policy by its directives."""
    named = (rule.split() for rule in served.policy.split(";"))
    return {name: set(values) for name, *values in named}


def test_the_page_on_the_disk_is_shown_with_a_script_of_its_own(page: str) -> None:
    """All of it stays but its policy, which moves to the head of the answer."""
    served = made_live(page, SENTENCES)
    text = served.content.decode()
    assert "http-equiv" not in text
    head, _, rest = page.partition('<meta http-equiv="Content-Security-Policy"')
    body = rest.partition(">")[2].rpartition("</body>")[0]
    assert text.startswith(head + body)
    assert text.count("</body>") == 1


def test_its_policy_allows_what_is_in_it_and_nothing_else(page: str) -> None:
    """Styles and scripts by digest, the question for a newer page, and no frame of anybody's."""
    served = made_live(page, SENTENCES)
    assert rules(served) == {
        "default-src": {"'none'"},
        "style-src": digests(served, "style"),
        "script-src": digests(served, "script"),
        "connect-src": {"'self'"},
        "base-uri": {"'none'"},
        "form-action": {"'none'"},
        "frame-ancestors": {"'none'"},
    }
    assert len(digests(served, "script")) == len(digests(served, "style")) == 2


@pytest.mark.parametrize(
    "policy",
    [
        "",
        "<meta http-equiv='Content-Security-Policy' content='script-src *'>",
        '<meta http-equiv="Content-Security-Policy" content="default-src *\r\nSet-Cookie: a=b">',
        '<meta http-equiv="Content-Security-Policy" content="script-src a, script-src *">',
    ],
)
def test_a_page_without_our_policy_runs_nothing_of_its_own(policy: str) -> None:
    """Somebody's own file in the place of the report, say; no line of it comes into the head."""
    served = made_live(f"{policy}<script>alert(1)</script></body>", SENTENCES)
    assert rules(served)["default-src"] == {"'none'"}
    assert len(rules(served)["script-src"]) == 1
    assert rules(served)["script-src"] < digests(served, "script")
    assert "\n" not in served.policy
    assert "," not in served.policy


def test_a_page_of_an_older_version_keeps_its_styles() -> None:
    """It allowed all of them, which a digest beside it would undo."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-abc='"
    served = made_live(f'<meta http-equiv="Content-Security-Policy" content="{policy}"></body>', SENTENCES)
    assert rules(served)["style-src"] == {"'unsafe-inline'"}
    assert rules(served)["script-src"] == {"'sha256-abc='"} | digests(served, "script")


def test_sentences_are_text(page: str) -> None:
    """Of any language, with any marks."""
    text = made_live(page, SENTENCES).content.decode()
    assert 'data-take="show &quot;it&quot;"' in text
    assert 'data-gone="it has &lt;ended&gt;"' in text


def test_without_a_file_there_is_a_page_that_waits(tmp_path: Path) -> None:
    """Until there is one; then it is another page, with another tag."""
    page = LivePage(tmp_path / "report.html", SENTENCES)
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
        put(path)
        assert b"wait" in LivePage(path, SENTENCES).now().content


def test_whoever_asks_looks_at_it(tmp_path: Path) -> None:
    """For some time."""
    page = LivePage(tmp_path / "report.html", SENTENCES)
    assert not page.is_watched(1e9)
    page.now()
    assert page.is_watched(10)
    assert not page.is_watched(0)
