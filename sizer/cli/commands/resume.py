"""resume: continue a study where it stopped."""

from __future__ import annotations

import argparse

from sizer import api
from sizer.cli import dry_run
from sizer.cli.arguments import add_dry_run, add_folder, add_retry
from sizer.cli.folders import opened
from sizer.cli.measuring import measure
from sizer.cli.progress import EventPrinter


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_dry_run(parser)
    add_retry(parser)


def run(arguments: argparse.Namespace) -> int:
    found = opened(arguments.folder) if arguments.dry_run else api.open_study(arguments.folder)
    host = api.this_host()
    found.check_host(host.host)  # before anybody waits for the host to be free
    if arguments.dry_run:
        return dry_run.show(api.plan_study(found.study, found.path, host, arguments.retry, found.runs()), host)
    printer = EventPrinter(found.study.emulated_disks)
    with api.continued(arguments.folder, host, printer, arguments.retry) as measurement:
        return measure(measurement, printer)
