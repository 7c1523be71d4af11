"""profile: a program of the user's own, without a study file."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import replace

from sizer import api
from sizer.cli import dry_run
from sizer.cli.event_lines import EventPrinter
from sizer.cli.folders import opened
from sizer.cli.interrupts import Interrupts
from sizer.plan.run_order import FAILED
from sizer.records.errors import InputError, Interrupted
from sizer.records.own_programs import Variable
from sizer.records.plain_text import typed_path
from sizer.records.run_kinds import FAULTS
from sizer.words.planning import Touch, limits_available, touch_line
from sizer.words.profiling import follows_from_first_run, profile_interrupted
from sizer.words.terminal import doubt_in_words, interrupted, runs_failed, warning_said


def profile(arguments: argparse.Namespace) -> int:
    asked = api.profile_of(_job(arguments), arguments.out)
    if arguments.dry_run:
        return _list(asked)
    printer = EventPrinter(asked.plan(None).study)
    with api.profile_measurement(asked, printer) as measuring, Interrupts() as interrupts:
        printer.expect = interrupts.expect
        outcomes = measuring.run(interrupts.finish, interrupts.now)
        if interrupts.finish():
            _say(interrupted(measuring.folder.path) if measuring.chosen else profile_interrupted())
            return Interrupted.exit_code
    if measuring.chosen and outcomes & FAILED:
        _say(runs_failed(measuring.folder.path))
    return 4 if outcomes & FAULTS else 0


def _job(arguments: argparse.Namespace) -> api.OwnJob:
    """What was typed. Raises InputError where there is no command, or a line that is no line of words."""
    command = arguments.typed[1:] if arguments.typed[:1] == ["--"] else arguments.typed
    if not command:
        raise InputError("There is no command to profile; type: sizer profile -- python train.py")
    return api.OwnJob(
        command=tuple(command),
        cwd=arguments.cwd,
        disks=tuple(each for typed in arguments.disk for each in typed.split(",") if each),
        data=arguments.data,
        batch_sizes=arguments.batch_size,
        samples_per_step=arguments.samples_per_step,
        sample_unit=arguments.sample_unit,
        pattern=arguments.pattern,
        meter=arguments.meter,
        env=tuple(map(_variable, arguments.env)),
        pass_env=tuple(each for typed in arguments.pass_env for each in typed.split(",") if each),
        setup=_words("--setup", arguments.setup),
        before=_words("--before", arguments.before),
        memory_floor=arguments.memory_floor,
        seconds=arguments.seconds,
        repeats=arguments.repeats,
    )


def _variable(text: str) -> Variable:
    name, equals, value = text.partition("=")
    return Variable(name, value if equals else None)


def _words(option: str, line: str | None) -> tuple[str, ...]:
    """A line as a shell splits it, without running one."""
    if line is None:
        return ()
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise InputError("{option} cannot be split into words ({error}).", option=option, error=error) from None
    if not words:
        raise InputError("{option} has no words; write the program and its arguments.", option=option)
    return words


def _list(asked: api.Profile) -> int:
    """List everything that is known before the first run, then end as the profile itself would."""
    asked.check()
    there = (asked.folder / "study.yaml").exists()
    plan = asked.plan(asked.first_run())
    for line in dry_run.lines(replace(plan, finished=opened(asked.folder).runs() if there else ()), os.environ):
        print(line)
    print(touch_line(Touch.STUDY_FILE, typed_path(asked.study_file.absolute())))
    if asked.first_run() is None:
        print(follows_from_first_run())
    print(limits_available())
    for doubt in plan.doubts:
        print(warning_said(doubt_in_words(doubt)))
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
