"""doctor: what sizer can control on this host."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from sizer.catalog.processors import index_by_name
from sizer.cli.arguments import add_json, print_json
from sizer.files.codec import to_json
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.lock import is_host_measured
from sizer.host.machine import Host, checks, facts
from sizer.host.speed import host_speed, probe
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.runner.sampling import host_load
from sizer.words.language import ENGLISH, in_language
from sizer.words.terminal import check_lines, finding_in_words, host_line, looking_at_host

SECONDS = 0.5
"""For which one thread is probed."""
UNUSUAL = 1.3
"""A host that is so many times as fast as others whose CPU is so called, or as slow, is warned of."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    print(looking_at_host(), file=sys.stderr, flush=True)
    backend = detect()
    host = facts(backend)
    shown = (*checks(backend), _load_check(backend), _speed_check(host))
    if arguments.json:
        print_json({"host": to_json(host), "checks": [_check_form(check) for check in shown]})
        return 0
    print(host_line(host))
    for check in shown:
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
    if kind is FindingKind.SPEED:
        form |= {name: getattr(check.finding, name) for name in ("index", "low", "high", "per_vcpu", "by_name")}
    return form | ({"gpus": check.finding.gpus} if kind is FindingKind.FRAMEWORK else {})


def _speed_check(host: Host) -> Check:
    """The name of a CPU is only what it may be compared with: machines of one name differ by a factor of two."""
    if is_host_measured():
        return Check("speed", True, Finding(FindingKind.SPEED_UNKNOWN))
    speed = host_speed(host.cpu_model, host.hyperthreads, (probe(host.cpus, SECONDS),))
    by_name = index_by_name(speed.cpu, speed.cpu_id)
    index, (low, high) = speed.processor.index, speed.interval
    usual = by_name is None or 1 / UNUSUAL < index / by_name < UNUSUAL
    finding = Finding(FindingKind.SPEED, index=index, low=low, high=high, by_name=by_name)
    return Check("speed", usual, replace(finding, count=speed.vcpus, per_vcpu=speed.per_vcpu))


def _load_check(backend: LimitsBackend) -> Check:
    """Other load spoils figures, and only a person knows what may be ended of it."""
    busy = host_load(backend)
    if busy is None:
        return Check("load", True, Finding(FindingKind.QUIET))
    return Check("load", False, Finding(FindingKind.BUSY, load=busy), "ps -eo pid,pcpu,args --sort=-pcpu | head")
