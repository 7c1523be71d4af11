"""demo: a small real study and its report."""

from __future__ import annotations

import argparse
from pathlib import Path

from sizer import api
from sizer.cli.arguments import _, option
from sizer.cli.measuring import measure
from sizer.cli.progress import EventPrinter
from sizer.store.study_folder import refuse_unusable


def arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "--out", _("default: %(default)s"), default="sizer-demo", metavar="DIR")


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.out)
    refuse_unusable(path)
    host = api.this_host(api.demonstration.DEMO_FIO)
    study, notes = api.demonstration.demo_study(host)
    printer = EventPrinter(study.emulated_disks)
    with api.measurement(api.plan_study(study, path, host), host, printer, notes) as measurement:
        return measure(measurement, printer)
