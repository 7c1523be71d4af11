"""doctor: what sizer can control on this host."""

from __future__ import annotations

import argparse
import sys

from sizer.cli.arguments import add_json, print_json
from sizer.files.codec import to_json
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.machine import checks, facts
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.runner.load import host_load
from sizer.words.language import ENGLISH, in_language
from sizer.words.terminal import check_lines, finding_in_words, host_line, looking_at_host


def arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    print(looking_at_host(), file=sys.stderr, flush=True)
    backend = detect()
    host, results = facts(backend), (*checks(backend), _load_check(backend))
    if arguments.json:
        print_json({"host": to_json(host), "checks": [_check_form(check) for check in results]})
        return 0
    print(host_line(host))
    for check in results:
        print("\n".join(check_lines(check)))
    return 0


def _check_form(check: Check) -> dict[str, object]:
    """A check with what it found as a sentence, in English, and as its code."""
    with in_language(ENGLISH):
        sentence = finding_in_words(check.finding)
    kind = check.finding.kind
    form = {"name": check.name, "ok": check.ok, "found": sentence, "code": kind.value, "fix": check.fix}
    if kind in (FindingKind.FRAMEWORK, FindingKind.PACKAGE):
        form |= {"version": str(check.finding.text), "python": check.finding.path}
    return form | ({"gpus": check.finding.gpus} if kind is FindingKind.FRAMEWORK else {})


def _load_check(backend: LimitsBackend) -> Check:
    """Other load spoils figures, and only a person knows what may be ended of it."""
    busy = host_load(backend)
    if busy is None:
        return Check("load", True, Finding(FindingKind.QUIET))
    return Check("load", False, Finding(FindingKind.BUSY, load=busy), "ps -eo pid,pcpu,args --sort=-pcpu | head")
