"""profile: a program of the user's own, without a study file."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import fields, replace
from typing import Any

from sizer import api
from sizer.cli import dry_run
from sizer.cli.arguments import _, add_dry_run, opened, option, whole
from sizer.cli.measuring import measure
from sizer.cli.progress import EventPrinter
from sizer.records import units
from sizer.records.frameworks import Variable
from sizer.records.messages import InputError, Message, quoted, typed_path
from sizer.words.studies.planning import Touch, touch_line
from sizer.words.studies.profiling import follows_from_first_run, profile_interrupted


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _("sizer profile [OPTIONS] [--] COMMAND ...")
    parser.description = _(
        "Measure a program of your own: first without limits, which tells what it needs, then with fewer vCPUs, less "
        "memory and on other disks, as far as that says more. It writes the study file of these runs and ends with the "
        "recommendation. The same again goes on where it was."
    )
    parser.epilog = _(
        "What COMMAND is not told of is as in this shell: it starts in this folder and finds its programs by PATH; of "
        "the variables it gets those in docs/study.md, and what --env and --pass-env name. {vcpus}, {threads}, "
        "{memory_mib}, {batch_size}, {data} and {scratch} in it are filled in for each run. See also "
        "docs/your-own-job.md. Exit codes are those of `sizer run`: 0 done, 4 a run failed, 130 interrupted."
    )
    several: dict[str, Any] = {"action": "extend", "default": []}
    repeats = whole(Message("a number of repeats"), 1000, "2")
    parser.add_argument("typed", nargs=argparse.REMAINDER, metavar="COMMAND", help=_("the program and its arguments"))
    where = parser.add_argument_group(_("where it is measured"))
    option(where, "--out", _("the study folder; default: by the name of the script, here"), metavar="DIR")
    disk = _(
        "measure on this disk, too: a folder on it, or a tier of the catalogue as NAME[:SIZE][:6000iops][:500mbps]; "
        "may be repeated"
    )
    option(where, "--disk", disk, _separated, dest="disks", metavar="DISK", **several)
    option(where, "--cwd", _("the folder that it starts in; default: here"), default=".", metavar="DIR")
    no_floor = _("do not search for the smallest memory in which it runs")
    where.add_argument("--no-memory-floor", dest="memory_floor", action="store_false", help=no_floor)
    option(where, "--seconds", _("of each run; default: %(default)g"), units.parse_wait, default=10.0)
    option(where, "--repeats", _("default: %(default)d"), repeats, default=2, metavar="N")
    add_dry_run(where)
    given = parser.add_argument_group(_("what it is told"))
    option(given, "--data", _("its data, put on each disk; {data} in COMMAND is where it is"), metavar="PATH")
    sizes = _("samples a step; of several, {batch_size} in COMMAND is the one of the run")
    option(given, "--batch-size", sizes, _batch_sizes, dest="batch_sizes", default=(), metavar="N[,N...]")
    named = _("a variable; without a value, that of this shell")
    option(given, "--env", named, _variable, action="append", default=[], metavar="NAME[=VALUE]")
    passed = _("variables of this shell; * is any letters")
    option(given, "--pass-env", passed, _separated, metavar="NAME[,...]", **several)
    option(given, "--setup", _("a command that is run once before all runs"), _words, default=(), metavar="LINE")
    option(given, "--before", _("a command that is run before each run"), _words, default=(), metavar="LINE")
    counted = parser.add_argument_group(_("how its steps are counted"))
    meter = _("auto: by its own events, in PyTorch and MXNet, or by its log; default: %(default)s")
    option(counted, "--meter", meter, choices=["auto", "hook", "log"], default="auto")
    meaning = _("a known format, or an expression, for its log; `sizer pattern` tries it")
    option(counted, "--pattern", meaning, metavar="EXPR")
    step = _("how many samples a step of one process has, where its loader and its batches do not say it rightly")
    option(counted, "--samples-per-step", step, units.parse_batch_size, metavar="N")
    option(counted, "--sample-unit", _("what a sample is called, like image"), metavar="NAME")


def run(arguments: argparse.Namespace) -> int:
    asked = api.profile_of(_job(arguments), arguments.out)
    if arguments.dry_run:
        return _list(asked)
    printer = EventPrinter(asked.plan(None).study.emulated_disks)
    with api.profile_measurement(asked, printer) as measuring:
        return measure(measuring, printer, early=profile_interrupted())


def _batch_sizes(text: str) -> tuple[int, ...]:
    """Each of `32,64` once, in their order."""
    return tuple(dict.fromkeys(map(units.parse_batch_size, text.split(","))))


def _separated(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _job(arguments: argparse.Namespace) -> api.OwnJob:
    """What was typed. Raises InputError where there is no command."""
    command = arguments.typed[1:] if arguments.typed[:1] == ["--"] else arguments.typed
    if not command:
        raise InputError("There is no command to profile; type: sizer profile -- python train.py")
    given = {field.name: getattr(arguments, field.name) for field in fields(api.OwnJob) if field.name != "command"}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    return api.OwnJob(command=tuple(command), **{**given, **lists})


def _variable(text: str) -> Variable:
    name, equals, value = text.partition("=")
    return Variable(name, value if equals else None)


def _words(line: str) -> tuple[str, ...]:
    """A line as a shell splits it, without running one."""
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise InputError("{line} cannot be split into words ({error}).", line=quoted(line), error=error) from None
    if not words:
        raise InputError("{line} has no words; write the program and its arguments.", line=quoted(line))
    return words


def _list(asked: api.Profile) -> int:
    """List everything that is known before the first run, then end as the profile itself would."""
    asked.check()
    there = (asked.folder / "study.yaml").exists()
    plan = asked.plan(asked.first_run())
    further = [touch_line(Touch.STUDY_FILE, typed_path(asked.study_file.absolute()))]
    further += [follows_from_first_run()] if asked.first_run() is None else []
    finished = opened(asked.folder).runs() if there else ()
    return dry_run.show(replace(plan, finished=finished), asked.host, further)
