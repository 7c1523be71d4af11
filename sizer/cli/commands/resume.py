"""resume: continue a study where it stopped."""

from __future__ import annotations

import argparse

from sizer import api
from sizer.cli import dry_run
from sizer.cli.arguments import add_dry_run, add_folder, add_retry, opened
from sizer.cli.measuring import measure
from sizer.cli.progress import EventPrinter


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_dry_run(parser)
    add_retry(parser)


def run(arguments: argparse.Namespace) -> int:
    folder = opened(arguments.folder) if arguments.dry_run else api.open_study(arguments.folder)
    host = api.this_host()
    folder.check_host(host.host)  # before anybody waits for the host to be free
    if arguments.dry_run:
        return dry_run.show(api.plan_study(folder.study, folder.path, host, arguments.retry, folder.runs()), host)
    printer = EventPrinter(folder.study.emulated_disks)
    with api.continued(arguments.folder, host, printer, arguments.retry) as measurement:
        return measure(measurement, printer)
