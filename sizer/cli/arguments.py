"""What can be typed. Each command names the function that does it, imported when it is called and not before."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from sizer import __version__
from sizer.cli import values
from sizer.cli.faults import in_words, sentence
from sizer.records.messages import Message
from sizer.records.units import GIB, spell_bytes

Command = Callable[[argparse.Namespace], int]

DEFAULT_TIER_SIZE = 500 * GIB
LANGUAGES = ("en", "zh")
"""That sizer speaks, by their names in `--lang`."""


class _Help(argparse.HelpFormatter):
    """Lines that fit the terminal, also of a language whose letters take two columns and have no spaces between."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        from sizer.cli.columns import lines_within

        return lines_within(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from sizer.cli.columns import lines_within

        return "\n".join(f"{indent}{line}" for line in lines_within(text, width - len(indent)))


class _Parser(argparse.ArgumentParser):
    """Its complaint about a word does not fill the terminal with that word."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        # As Python 3.14 has it: `--budget -5m` gives the option a value, which its own sentence refuses.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def _get_formatter(self) -> argparse.HelpFormatter:
        return _Help(prog=self.prog)

    def error(self, message: str) -> NoReturn:
        super().error(sentence(message))


def _(message: str, /, **values: object) -> str:
    """The message in the reader's language."""
    return in_words(Message(message, **values))


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top: argparse.ArgumentParser = _Parser(
        prog="sizer",
        description=_("Which is the cheapest machine on which a deep-learning job loses nothing? sizer measures it."),
        epilog=_(
            "exit codes: 0 done; 1 internal error of sizer; 2 usage, study file or input file; 3 this host cannot "
            "do what was "
            "asked; 4 some runs crashed, timed out, were unsupported or refused, report made; 5 no workload has an "
            "answer; "
            "6 a gate given with --fail-if is not met; 130 interrupted"
        ),
    )
    top.add_argument("--version", action="version", version=f"sizer {__version__}", help=_("show the version and exit"))
    commands = top.add_subparsers(prog="sizer", metavar="COMMAND", required=True)
    _add_beginning(commands)
    _add_measuring(commands)
    _add_profile(commands)
    _add_status(commands)
    _add_answering(commands)
    _add_importing(commands)
    _add_pattern(commands)
    _add_disks(commands)
    _add_catalog(commands)
    _add(commands, "schema", "host_commands", _("the study file's JSON Schema"))
    return top


def _add_beginning(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    doctor = _add(
        commands,
        "doctor",
        "host_commands",
        _("what sizer can control on this host, and the commands that fix the rest"),
    )
    _add_json(doctor)
    demo = _add(
        commands, "demo", "run", _("a small real study and its report, in under 5 minutes; no GPU, no download")
    )
    demo.add_argument("--out", default="sizer-demo", metavar="DIR", help=_("default: %(default)s"))
    init = _add(commands, "init", "host_commands", _("write a commented study file"))
    init.add_argument("file", nargs="?", default="study.yaml", metavar="FILE", help=_("default: %(default)s"))


def _add_profile(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    added = _add(commands, "profile", "profile", _("measure a program of your own, without a study file"))
    added.usage = _("sizer profile [OPTIONS] [--] COMMAND ...")
    added.description = _(
        "Measure a program of your own: first without limits, which tells what it needs, then with fewer vCPUs, less "
        "memory and on other disks, as far as that says more. It writes the study file of these runs and ends with the "
        "recommendation. The same again goes on where it was."
    )
    added.epilog = _(
        "What COMMAND is not told of is as in this shell: it starts in this folder and finds its programs by PATH; of "
        "the variables it gets those in docs/study.md, and what --env and --pass-env name. {vcpus}, {threads}, "
        "{memory_mib}, {batch_size}, {data} and {scratch} in it are filled in for each run. See also "
        "docs/your-own-job.md. Exit codes are those of `sizer run`: 0 done, 4 a run failed, 130 interrupted."
    )
    added.add_argument("typed", nargs=argparse.REMAINDER, metavar="COMMAND", help=_("the program and its arguments"))
    where = added.add_argument_group(_("where it is measured"))
    where.add_argument("--out", metavar="DIR", help=_("the study folder; default: by the name of the script, here"))
    where.add_argument(
        "--disk",
        action="append",
        default=[],
        metavar="DISK",
        help=_("measure on this disk, too: a folder on it, or a tier of the catalogue as NAME[:SIZE]; may be repeated"),
    )
    where.add_argument("--cwd", default=".", metavar="DIR", help=_("the folder that it starts in; default: here"))
    where.add_argument(
        "--no-memory-floor",
        dest="memory_floor",
        action="store_false",
        help=_("do not search for the smallest memory in which it runs"),
    )
    where.add_argument("--seconds", type=values.seconds, default=10.0, help=_("of each run; default: %(default)g"))
    where.add_argument("--repeats", type=values.repeats, default=2, metavar="N", help=_("default: %(default)d"))
    _add_dry_run(where)
    told = added.add_argument_group(_("what it is told"))
    told.add_argument("--data", metavar="PATH", help=_("its data, put on each disk; {data} in COMMAND is where it is"))
    told.add_argument(
        "--batch-size",
        type=values.batch_sizes,
        default=(),
        metavar="N[,N...]",
        help=_("samples a step; of several, {batch_size} in COMMAND is the one of the run"),
    )
    told.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help=_("a variable; without a value, that of this shell"),
    )
    told.add_argument(
        "--pass-env",
        action="append",
        default=[],
        metavar="NAME[,...]",
        help=_("variables of this shell; * is any letters"),
    )
    told.add_argument("--setup", metavar="LINE", help=_("a command that is run once before all runs"))
    told.add_argument("--before", metavar="LINE", help=_("a command that is run before each run"))
    counted = added.add_argument_group(_("how its steps are counted"))
    counted.add_argument(
        "--meter",
        choices=["auto", "hook", "log"],
        default="auto",
        help=_("auto: by its own events, in PyTorch and MXNet, or by its log; default: %(default)s"),
    )
    counted.add_argument(
        "--pattern", metavar="EXPR", help=_("a known format, or an expression, for its log; `sizer pattern` tries it")
    )
    counted.add_argument(
        "--samples-per-step",
        type=values.batch_size,
        metavar="N",
        help=_("how many samples a step of one process has, where its loader and its batches do not say it rightly"),
    )
    counted.add_argument("--sample-unit", metavar="NAME", help=_("what a sample is called, like image"))


def _add_status(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    status = _add(commands, "status", "status", _("how many of a study's runs are finished"))
    _add_folder(status)
    _add_json(status)


def _add_catalog(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    catalog = _add(
        commands, "catalog", "host_commands", _("the catalogue of instance types, disk tiers and accelerator rates")
    )
    actions = catalog.add_subparsers(prog="sizer catalog", metavar="ACTION", dest="action", required=True)
    listed = actions.add_parser("list", help=_("the entries"), description=_("The entries of catalogue files."))
    listed.add_argument("files", nargs="*", metavar="FILE", help=_("default: the catalogue that comes with sizer"))
    _add_json(listed)
    validated = actions.add_parser("validate", help=_("check catalogue files"), description=_("Check catalogue files."))
    validated.add_argument("files", nargs="*", metavar="FILE", help=_("default: the catalogue that comes with sizer"))
    _add_json(validated)
    imported = actions.add_parser(
        "import", help=_("CSV files as a catalogue, on stdout"), description=_("CSV files as a catalogue, on stdout.")
    )
    imported.add_argument("files", nargs="+", metavar="FILE.csv", help=_("instance types, disk tiers or rates"))


def _add_pattern(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    pattern = _add(commands, "pattern", "pattern", _("what an expression, or a known format, would read from a log"))
    pattern.add_argument(
        "expression",
        nargs="?",
        metavar="EXPR",
        help=_("a known format, or a regular expression with named groups; default: which known format the log has"),
    )
    pattern.add_argument("log", metavar="LOGFILE")
    _add_json(pattern)


def _add_disks(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    disks = _add(commands, "disks", "host_commands", _("compare what fio measures on a disk with its declared figures"))
    actions = disks.add_subparsers(prog="sizer disks", metavar="ACTION", dest="action", required=True)
    check = actions.add_parser("check", help=_("measure with fio"), description=_("Measure disks with fio."))
    check.add_argument(
        "disks",
        nargs="+",
        metavar="DIR_OR_TIER",
        help=_(
            "a folder on a disk, or a tier of the catalogue as NAME[:SIZE]; default size: {size}",
            size=spell_bytes(DEFAULT_TIER_SIZE),
        ),
    )
    check.add_argument("--seconds", type=values.seconds, default=3.0, help=_("for each figure; default: %(default)g"))
    _add_json(check)


def _add_measuring(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = _add(commands, "run", "run", _("measure a study; finished runs are kept, so it also resumes"))
    run.add_argument("study", metavar="STUDY.yaml")
    run.add_argument(
        "--out", metavar="DIR", help=_("the study folder; default: the study file's name without its ending, here")
    )
    _add_dry_run(run)
    run.add_argument("--preset", choices=["quick", "standard", "full"], help=_("fills what the file leaves out"))
    run.add_argument(
        "--until",
        choices=["settled"],
        help=_("choose each next run by what it would tell, and stop when every answer is settled"),
    )
    bound = run.add_mutually_exclusive_group()
    bound.add_argument(
        "--budget", type=values.duration, metavar="30m", help=_("with --until: the time that runs may take")
    )
    bound.add_argument("--runs", type=values.runs, metavar="N", help=_("with --until: how many runs may be made"))
    resume = _add(commands, "resume", "run", _("continue a study where it stopped"))
    _add_folder(resume)
    _add_dry_run(resume)
    for added in (run, resume):
        added.add_argument("--retry", action="store_true", help=_("measure again what crashed or timed out before"))


def _add_answering(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    recommend = _add(commands, "recommend", "answers", _("the recommended instance spec"))
    _add_folder(recommend)
    recommend.add_argument("--catalog", metavar="FILE", help=_("default: the catalogue that comes with sizer"))
    recommend.add_argument("--objective", choices=["cheapest", "fastest", "balanced"])
    recommend.add_argument(
        "--target", type=values.share, metavar="0.95", help=_("share of the best throughput to reach")
    )
    recommend.add_argument(
        "--samples", type=values.samples, metavar="1.2M", help=_("with --within: how many samples the job has")
    )
    recommend.add_argument(
        "--within",
        type=values.duration,
        metavar="6h",
        help=_("with --samples: the spec that finishes them in that time"),
    )
    recommend.add_argument(
        "--at-least",
        type=values.rate,
        metavar="RATE",
        help=_("samples per second that it must give; takes the place of --target"),
    )
    recommend.add_argument(
        "--latency-p99",
        type=values.milliseconds,
        metavar="MS",
        help=_("milliseconds that 99 of 100 batches may take at the most; asks among the configurations measured"),
    )
    recommend.add_argument(
        "--spot",
        action="store_true",
        help=_("by spot prices, where the table or the catalogue has them"),
    )
    recommend.add_argument(
        "--gpus",
        type=values.gpus,
        metavar="T4,V100",
        help=_("what these would do for the job, by published rates: rate, what binds, cost, memory, a second one"),
    )
    recommend.add_argument("--workload", metavar="W", help=_("answer for this workload alone"))
    recommend.add_argument(
        "--baseline",
        metavar="PROVIDER/TYPE",
        help=_("an instance type to compare with; default: the largest configuration measured"),
    )
    recommend.add_argument(
        "--fail-if",
        action="append",
        metavar="CONDITION",
        help=_("exit with 6 if a condition holds, such as 'throughput<500' or 'status!=recommended'; may be repeated"),
    )
    _add_json(recommend)
    predict = _add(commands, "predict", "predict", _("what the model expects of a configuration"))
    _add_folder(predict)
    predict.add_argument("--workload", metavar="W", help=_("needed where the study has several and --at names none"))
    predict.add_argument("--vcpus", type=values.vcpus, metavar="N")
    predict.add_argument("--memory", type=values.memory, metavar="30GiB")
    predict.add_argument("--disk", metavar="T", help=_("a disk of the study, or a tier of the catalogue as NAME:SIZE"))
    predict.add_argument("--batch-size", type=values.batch_size, metavar="B")
    predict.add_argument("--gpu", metavar="NAME", help=_("an accelerator that was measured"))
    predict.add_argument("--gpu-count", type=values.gpu_count, metavar="N", help=_("how many of it"))
    _add_what_if(predict)
    predict.add_argument("--at", metavar="FILE.csv", help=_("one configuration a row, columns as in measurements.csv"))
    _add_json(predict)
    report = _add(commands, "report", "answers", _("write the report again"))
    _add_folder(report)
    report.add_argument("--out", metavar="FILE.html", help=_("default: DIR/report.html"))
    report.add_argument(
        "--lang", choices=LANGUAGES, help=_("the language of the page; default: the one that LANG asks for")
    )
    report.add_argument("--open", action="store_true", help=_("show it in a browser"))
    _add_json(report)
    serve = _add(commands, "serve", "serve", _("show the report in a browser, live while the study is measured"))
    serve.description = _(
        "Show the report in a browser, and every newer one while the study is measured: whoever measures writes it "
        "between two runs, as long as somebody looks. It is served on this host alone, at the address that is printed, "
        "to whoever knows the token in it; Ctrl-C ends it."
    )
    serve.epilog = _(
        "From another host: `sizer serve DIR --port 8765` here, `ssh -L 8765:127.0.0.1:8765 THIS_HOST` there, with the "
        "same port on both sides, then open the address there. A browser on the host that measures takes CPU time from "
        "the runs."
    )
    _add_folder(serve)
    serve.add_argument(
        "--port", type=values.port, default=0, metavar="N", help=_("the port on 127.0.0.1; default: any that is free")
    )
    export = _add(commands, "export", "answers", _("the measurements as one table"))
    _add_folder(export)
    form = export.add_mutually_exclusive_group()
    form.add_argument("--format", choices=["csv", "json"], default="csv", help=_("default: %(default)s"))
    form.add_argument("--json", action="store_const", dest="format", const="json", help=_("the same as --format json"))
    fit = _add(commands, "fit", "answers", _("fit the model to a study's runs"))
    _add_folder(fit)
    _add_json(fit)


def _add_what_if(predict: argparse.ArgumentParser) -> None:
    """Changes that no run has seen."""
    asked = predict.add_argument_group(_("what if"))
    asked.add_argument(
        "--gpu-speedup",
        type=values.speedup,
        default=1.0,
        metavar="F",
        help=_("as if the accelerator were F times as fast"),
    )
    asked.add_argument("--disk-iops", type=values.iops, metavar="N", help=_("as if the disk gave N IOs a second"))
    asked.add_argument("--disk-mbps", type=values.mbps, metavar="N", help=_("as if the disk gave N MB (10^6) a second"))
    size = asked.add_mutually_exclusive_group()
    size.add_argument(
        "--data-size", type=values.data_size, metavar="600GiB", help=_("as if the data set were as large")
    )
    size.add_argument(
        "--data-factor", type=values.speedup, metavar="F", help=_("as if the data set were F times as large")
    )
    asked.add_argument(
        "--decode-factor",
        type=values.speedup,
        default=1.0,
        metavar="F",
        help=_("as if decoding a sample cost F times the CPU, such as 0.5"),
    )


def _add_importing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    added = _add(commands, "import", "import_command", _("measurements made elsewhere become a study"), "import_table")
    added.epilog = _(
        "Required columns: throughput (samples a second), and at least one of vcpus, memory_gib, "
        "disk, batch_size, gpu, gpu_count and instance_type. Common other names and units are understood and said. "
        "Optional columns: workload (the same in all rows of one job), framework, device, network, precision, input, "
        "cache, throughput_low and throughput_high (95 % interval), sample_unit, outcome (completed, out_of_memory, "
        "timeout, crashed, ...), the demands (core_seconds_per_sample, ...), bottleneck, hit_rate, warnings, "
        "started_at, repeat, "
        "epoch (0 is the first), first_epoch_throughput, kind, format, dataset, dataset_gib, dataset_samples, "
        "disk_read_iops, disk_read_mbps, disk_write_iops, disk_write_mbps, disk_class, disk_emulated, "
        "peak_anonymous_gib, accelerator_samples_per_second, isolates, latency_p50_ms, latency_p99_ms, mode, what a "
        "driver told of the GPU (gpu_busy, gpu_memory_peak_gib, gpu_watts, gpu_sm_mhz, gpu_memory_mhz), how sure an "
        "emulated rate is (accelerator_rate_low, accelerator_rate_high, accelerator_rate_basis), what several "
        "were said to lose to each other (accelerator_scaling_loss), and what was rented: provider, instance_type, "
        "region, usd_per_hour, usd_per_hour_spot and nodes_together. Any other column is kept as it "
        "is. See also docs/import.md."
    )
    added.add_argument("file", metavar="FILE.csv", help=_("a table with one run a row"))
    added.add_argument("--out", required=True, metavar="DIR", help=_("the study folder, new or empty"))
    added.add_argument(
        "--job-by",
        action="append",
        default=[],
        metavar="COLUMN",
        help=_("a column whose values are different jobs, such as concurrency; may be repeated"),
    )
    _add_json(added)


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    module: str,
    summary: str,
    function: str | None = None,
) -> argparse.ArgumentParser:
    added = commands.add_parser(
        name, help=summary, description=_("{clause}.", clause=f"{summary[0].upper()}{summary[1:]}")
    )
    added.set_defaults(command=_command(module, function or name))
    return added


def _command(module: str, name: str) -> Command:
    """`sizer --help` must not wait for numpy."""

    def call(arguments: argparse.Namespace) -> int:
        code: int = getattr(import_module(f"sizer.cli.{module}"), name)(arguments)
        return code

    return call


def _add_folder(added: argparse.ArgumentParser) -> None:
    added.add_argument("folder", metavar="DIR", help=_("a study folder"))


def _add_dry_run(added: argparse._ActionsContainer) -> None:
    added.add_argument(
        "--dry-run",
        action="store_true",
        help=_(
            "list the runs, their time, every program, file and GPU that they use, and what needs root; run nothing"
        ),
    )


def _add_json(added: argparse.ArgumentParser) -> None:
    added.add_argument("--json", action="store_true", help=_("as JSON on stdout"))
