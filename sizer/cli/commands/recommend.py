"""recommend: the recommended instance spec, and the gates of a pipeline."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from sizer import api
from sizer.catalog.catalog import LISTED, Catalog
from sizer.cli.arguments import _, add_catalog, add_folder, catalog_of, flag, names_listed, opened, option
from sizer.cli.gates import check_gate, gate_code, read_gate
from sizer.cli.printing import sentence
from sizer.exchange.formats import FORMATS, HandedOver
from sizer.model.model import Model
from sizer.records import units
from sizer.records.answer import Alternative, Answer, InstanceOffer, Recommendation
from sizer.records.messages import InputError, NoAnswer, advised_name, typed_path
from sizer.records.study import Deadline, Interruptions, Objective, Study
from sizer.words.accelerators import accelerator_counts_lines, batch_sentences, gpu_option_lines, gpus_compared
from sizer.words.answers import alternative_line, headline, main_sentences, rejection_line, sure_line
from sizer.words.costs import costs_lines, is_asked
from sizer.words.names import terms_of_answer
from sizer.words.page import answers_in_short, cross_lines, table_comes_first
from sizer.words.reasons.phrasing import suggestion_sentences
from sizer.words.runs import host_lines
from sizer.words.terminal import moved_rates_line, offer_line
from sizer.words.verdict import idle_sentence

MOST_ALTERNATIVES = 5
"""Machines that no other dominates, as the terminal lists them; the page has all."""
MOST_IN_FULL = 12
"""Workloads with all reasons below a table of frameworks; of more, each has one line."""
MOST_OFFERS = 5
"""Instance types with a price, as the terminal lists them; the page has more."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_catalog(parser)
    parser.add_argument("--objective", choices=["cheapest", "fastest", "balanced"])
    share = _("share of the best throughput to reach")
    option(parser, "--target", share, units.parse_share, metavar="0.95")
    job = _("how many samples the whole job has, also as samples x epochs: its time and cost are said")
    option(parser, "--samples", job, units.parse_count, metavar="1.2M")
    in_time = _("with --samples: the spec that finishes them in that time")
    option(parser, "--within", in_time, units.parse_seconds, metavar="6h")
    least = _("samples per second that it must give; takes the place of --target")
    option(parser, "--at-least", least, units.parse_rate, metavar="RATE")
    latency = _("milliseconds that 99 of 100 batches may take at the most; asks among the configurations measured")
    option(parser, "--latency-p99", latency, units.parse_latency, metavar="MS")
    flag(parser, "--spot", _("by spot prices, where the table or the catalogue has them"))
    often = _("with --checkpoint-minutes: how often an hour a spot machine is taken back; gives expected spot costs")
    option(parser, "--interruptions-per-hour", often, units.parse_factor, metavar="0.05")
    saved = _("with --interruptions-per-hour: every how many minutes the job saves its state")
    option(parser, "--checkpoint-minutes", saved, units.parse_factor, metavar="10")
    gpus = _("what these would do for the job, by published rates: rate, what binds, cost, memory, a second one")
    option(parser, "--gpus", gpus, names_listed, metavar="T4,V100")
    option(parser, "--workload", _("answer for this workload alone"), metavar="W")
    compared = _("an instance type, or a row of the table by its name, to compare with; default: the largest measured")
    option(parser, "--baseline", compared, metavar="PROVIDER/TYPE")
    gate = _("exit with 6 if a condition holds, such as 'throughput<500' or 'status!=recommended'; may be repeated")
    parser.add_argument("--fail-if", action="append", metavar="CONDITION", help=gate)
    form = parser.add_mutually_exclusive_group()
    option(form, "--format", _("default: %(default)s"), choices=["text", *FORMATS], default="text")
    form.add_argument("--json", action="store_const", dest="format", const="json", help=_("the same as --format json"))


def run(arguments: argparse.Namespace) -> int:
    folder = opened(arguments.folder)
    catalog = catalog_of(arguments)
    asked = _objective(arguments, folder.study.objective)
    asked = replace(asked, gpus=tuple(dict.fromkeys(map(catalog.gpu, asked.gpus))))
    model = api.fit(folder)
    names = [workload.name for workload in model.workloads]
    gates = [read_gate(text, names, deadline=asked.deadline is not None) for text in arguments.fail_if or ()]
    offers = None if arguments.catalog is None and arguments.rate is None else catalog
    recommendation = api.recommend(folder, asked, offers, model)
    if asked.baseline is not None:
        _check_baseline(asked.baseline, recommendation, catalog)
    if arguments.workload is not None:
        wanted = api.predicting.workload_of(model, arguments.workload).name
        only = tuple(answer for answer in recommendation.workloads if answer.workload == wanted)
        recommendation = replace(recommendation, workloads=only)
    if arguments.format != "text":
        given = HandedOver(recommendation, model, folder.study, api.last_day(folder))
        try:
            print(FORMATS[arguments.format][1](given), end="")
        except NoAnswer as error:
            if not gates:
                raise
            print(f"sizer: {sentence(error)}", file=sys.stderr)
    else:
        _print(recommendation, model, folder.study, arguments)
        host = api.host_seen(folder)
        for line in host_lines(host.drift, host.beside_others, host.runs):
            print(line)
    # A gate comes first: whoever gave one asked for its verdict.
    if code := gate_code([check_gate(gate, recommendation.workloads) for gate in gates]):
        return code
    return 0 if any(workload.status != "refused" for workload in recommendation.workloads) else NoAnswer.exit_code


def _print(recommendation: Recommendation, model: Model, study: Study, arguments: argparse.Namespace) -> None:
    """The answers and the table of frameworks, the one first that the study is about."""
    answers = recommendation.workloads
    table = recommendation.cross_table if arguments.workload is None else None
    table_lines = [] if table is None else list(cross_lines(table, study))
    table_first = table is not None and table_comes_first(recommendation, study)
    for line in table_lines if table_first else ():
        print(line)
    if table_first and len(answers) > MOST_IN_FULL:
        for answer in answers:
            print(headline(answer, terms_of_answer(answer, model.workload(answer.workload))))
        print(answers_in_short(f"sizer recommend {typed_path(arguments.folder)} --workload NAME"))
    else:
        for answer in answers:
            _print_answer(answer, model)
    for line in () if table_first else table_lines:
        print(line)


def _check_baseline(name: str, recommendation: Recommendation, catalog: Catalog) -> None:
    """Raises InputError where neither a row nor an instance type that is sold is called so."""
    answers = recommendation.workloads
    if any(answer.baseline is not None and answer.baseline.named for answer in answers):
        return
    if catalog.called(name):
        catalog.instance(name)
        return
    rows = [row.instance_type for answer in answers if answer.costs is not None for row in answer.costs.rows]
    names = [*dict.fromkeys(filter(None, rows)), *(instance.name for instance in catalog.offered)]
    raise InputError(
        "Neither a row of the study nor an instance type of the catalogue is called `{name}`; {advice}",
        name=name,
        advice=advised_name(name, names, LISTED),
    )


def _objective(arguments: argparse.Namespace, own: Objective) -> Objective:
    """The study's own with what was asked for on the command line: by a share of the best, by a rate or by a deadline.
    Raises InputError for half of a deadline, and for two of them."""
    given, share = arguments, arguments.objective is not None or arguments.target is not None
    if given.within is not None and given.samples is None:
        raise InputError("--within needs to know of how many samples; add --samples 1.2M.")
    if (given.interruptions_per_hour is None) != (given.checkpoint_minutes is None):
        raise InputError(
            "Use --interruptions-per-hour and --checkpoint-minutes together, such as 0.05 and 10: what is lost by an "
            "interruption follows from both."
        )
    if given.at_least is not None and (given.within is not None or given.target is not None):
        raise InputError("--at-least already says how fast it must be; leave out --target and --within.")
    if given.within is not None and share:
        raise InputError(
            "--samples and --within already ask for the cheapest spec that finishes in time; "
            "leave out --objective and --target."
        )
    named = {
        "prefer": given.objective,
        "target": given.target,
        "latency_p99": given.latency_p99,
        "gpus": given.gpus,
        "baseline": given.baseline,
        "samples": given.samples if given.within is None else None,
    }
    asked = replace(own, **{name: value for name, value in named.items() if value is not None})
    asked = replace(asked, spot=given.spot or own.spot)
    if given.checkpoint_minutes is not None:
        lost = Interruptions(given.interruptions_per_hour, 60 * given.checkpoint_minutes)
        asked = replace(asked, interruptions=lost)
    if share or given.within is not None or given.at_least is not None:
        deadline = Deadline(given.samples, given.within) if given.within is not None else None
        return replace(asked, deadline=deadline, at_least=given.at_least)
    return asked


def _print_answer(answer: Answer, model: Model) -> None:
    terms = terms_of_answer(answer, model.workload(answer.workload))
    print(headline(answer, terms))
    lines = [
        *filter(None, (sure_line(answer), *main_sentences(answer, terms), idle_sentence(answer))),
        *(batch_sentences(answer.batch, terms) if answer.batch is not None else ()),
        *costs_lines(answer, terms),
        *(alternative_line(alternative, terms) for alternative in _shown(answer) if not is_asked(answer)),
        *accelerator_counts_lines(answer, terms),
        *(rejection_line(rejection, terms) for rejection in answer.rejected),
        *(
            [_("Next: {suggestion}", suggestion=suggestion_sentences(answer.next_run, terms))]
            if answer.next_run
            else ()
        ),
        *(offer_line(offer, terms.unit) for offer in _offers(answer)),
        *filter(None, [moved_rates_line(_offers(answer))]),
        *gpus_compared(answer.gpus, terms),
    ]
    for gpu in answer.gpus:
        first, *more = gpu_option_lines(gpu, terms)
        lines += [first, *(f"  {line}" for line in more)]
    for line in lines:
        print(f"  {line}")


def _offers(answer: Answer) -> list[InstanceOffer]:
    """Some instance types: those with a price, the cheapest first, then some without; the page has more."""
    offers = [offer for offer in answer.instances if not (answer.alternatives and offer.own)]
    priced = [offer for offer in offers if offer.usd_per_hour is not None]
    return [*priced[:MOST_OFFERS], *(offer for offer in offers if offer.usd_per_hour is None)]


def _shown(answer: Answer) -> list[Alternative]:
    """The alternatives worth choosing between, the answer always among them."""
    front, chosen = answer.front, answer.chosen
    shown = list(front[:MOST_ALTERNATIVES])
    if chosen is not None and chosen not in shown:
        shown[-1] = chosen
    return shown
