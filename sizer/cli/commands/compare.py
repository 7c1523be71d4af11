"""compare: two studies, regressions first, and the gates of a pipeline."""

from __future__ import annotations

import argparse

from sizer import api
from sizer.cli.arguments import _, add_json, opened, option, print_json
from sizer.cli.gates import CHANGES, check_gate, gate_code, read_gate
from sizer.exchange.formats import comparison_form
from sizer.model.comparison import Comparison
from sizer.words import comparison as words


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help=_("a study folder"))
    parser.add_argument("after", metavar="B", help=_("another one, whose rates are said against those of A"))
    gate = _("exit with 6 if a condition holds beyond noise, such as 'throughput<-5%%'; may be repeated")
    parser.add_argument("--fail-if", action="append", metavar="CONDITION", help=gate)
    option(parser, "--html", _("write it as a page, too"), metavar="FILE.html")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    folders = opened(arguments.before), opened(arguments.after)
    workloads = dict.fromkeys(plan.workload.name for folder in folders for plan in folder.study.workloads)
    gates = [read_gate(text, list(workloads), CHANGES) for text in arguments.fail_if or ()]
    comparison = api.compare_studies(*folders)
    if arguments.html is not None:
        api.write_comparison(comparison, arguments.html)
    if arguments.json:
        print_json(comparison_form(comparison))
    else:
        _print(comparison)
    changes = (*comparison.means, *comparison.differences)
    return gate_code([check_gate(gate, changes, CHANGES) for gate in gates])


def _print(comparison: Comparison) -> None:
    for letter, study in zip("AB", comparison.studies, strict=True):
        print(words.study_line(letter, study))
    for difference in comparison.study_differences:
        print(words.difference_line(*words.difference_cells(difference)))
    if whence := words.whence(comparison):
        print(whence)
    for change in (*comparison.means, *comparison.differences):
        print(words.change_line(change))
        if moved := words.moved_line(change):
            print(f"  {moved}")
    print("\n".join(words.notes(comparison)))
