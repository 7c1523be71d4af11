"""compare: two studies, regressions first, and the gates of a pipeline."""

from __future__ import annotations

import argparse
from collections import Counter

from sizer import api
from sizer.cli.arguments import _, add_json, option, print_json
from sizer.cli.folders import opened
from sizer.cli.gates import COMPARED, check_gate, gate_code, read_gate
from sizer.exchange.published import comparison_form
from sizer.words import comparison as words


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help=_("a study folder"))
    parser.add_argument("after", metavar="B", help=_("another one, whose rates are said against those of A"))
    gate = _("exit with 6 if a condition holds beyond noise, such as 'throughput<-5%'; may be repeated")
    parser.add_argument("--fail-if", action="append", metavar="CONDITION", help=gate)
    option(parser, "--html", _("write it as a page, too"), metavar="FILE.html")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    folders = opened(arguments.before), opened(arguments.after)
    workloads = [plan.workload.name for folder in folders for plan in folder.study.workloads]
    gates = [read_gate(text, list(dict.fromkeys(workloads)), COMPARED) for text in arguments.fail_if or ()]
    compared = api.compare_studies(*folders)
    if arguments.html is not None:
        api.write_comparison(compared, arguments.html)
    if arguments.json:
        print_json(comparison_form(compared.studies, compared.unlike, compared.comparison))
    else:
        _print(compared)
    comparison = compared.comparison
    asked = [*comparison.means, *(its for its in comparison.differences if its.stage is None)]
    return gate_code([check_gate(gate, asked, COMPARED) for gate in gates])


def _print(compared: api.ComparedStudies) -> None:
    comparison = compared.comparison
    for letter, study in zip("AB", compared.studies, strict=True):
        print(words.study_in_words(letter, study))
    for unlike in compared.unlike:
        print(words.unlike_line(unlike))
    print(words.unlike_sentences(compared.unlike, compared.studies))
    counts = Counter(its.workload for its in comparison.differences if its.change and its.stage is None)
    for its in comparison.means:
        print(words.mean_line(its, counts[its.workload]))
    for its in comparison.differences:
        print(words.compared_line(its))
        if its.verdict != "unclear" and (moved := words.moved_line(its)):
            print(f"  {moved}")
    for line in words.cautions(comparison) if comparison.differences else [words.nothing_shared()]:
        print(line)
    for letter, absent in (("A", comparison.only_before), ("B", comparison.only_after)):
        if absent:
            print(words.only_line(letter, absent))
