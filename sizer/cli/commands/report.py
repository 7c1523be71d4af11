"""report: write the page again."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from pathlib import Path

from sizer import api
from sizer.cli.arguments import LANGUAGES, _, add_folder, add_json, flag, opened, option
from sizer.exchange.formats import FORMATS
from sizer.records.messages import HostError, InputError, typed_path


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    option(parser, "--out", _("default: DIR/report.html"), metavar="FILE.html")
    asked = _("the language of the page; default: the one that LANG asks for")
    option(parser, "--lang", asked, choices=LANGUAGES)
    flag(parser, "--open", _("show it in a browser"))
    separate = _(
        "a file for each workload into this folder, by default DIR/workloads, in the place of one page for all"
    )
    option(parser, "--each", separate, metavar="FOLDER", nargs="?", const="")
    form = _("with --each: what each file is; default: %(default)s")
    option(parser, "--format", form, choices=["html", *FORMATS], default="html")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.each is None and arguments.format != "html":
        raise InputError("--format is of --each; use `sizer recommend DIR --format {form}`.", form=arguments.format)
    if arguments.each is not None:
        if arguments.out is not None or arguments.open:
            raise InputError("--each writes several files into its folder; leave out --out and --open.")
        into = arguments.each or Path(arguments.folder) / "workloads"
        folder = opened(arguments.folder)
        paths = api.write_each(folder, into, arguments.format, arguments.lang)
        print(json.dumps({"reports": [*map(str, paths)]}) if arguments.json else "\n".join(map(str, paths)))
        if len(paths) < len(folder.study.workloads):
            left_out = _(
                "{without} of {workloads} workloads have no file, as they have no answer, or no instance type that "
                "this format can rent; `sizer recommend {folder}` says which.",
                without=len(folder.study.workloads) - len(paths),
                workloads=len(folder.study.workloads),
                folder=typed_path(arguments.folder),
            )
            print(f"sizer: {left_out}", file=sys.stderr)
        return 0
    path = api.write_report(opened(arguments.folder), arguments.out, arguments.lang)
    print(json.dumps({"report": str(path)}) if arguments.json else path)
    if arguments.open and not webbrowser.open(path.resolve().as_uri()):
        raise HostError(
            "No browser was found on this host; copy {path} to one that has a browser, and open it there.",
            path=typed_path(path),
        )
    return 0
