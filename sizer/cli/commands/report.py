"""report: write the page again."""

from __future__ import annotations

import argparse
import json
import webbrowser

from sizer import api
from sizer.cli.arguments import LANGUAGES, _, add_folder, add_json, flag, option
from sizer.cli.folders import opened
from sizer.records.messages import HostError, typed_path


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    option(parser, "--out", _("default: DIR/report.html"), metavar="FILE.html")
    asked = _("the language of the page; default: the one that LANG asks for")
    option(parser, "--lang", asked, choices=LANGUAGES)
    flag(parser, "--open", _("show it in a browser"))
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    path = api.write_report(opened(arguments.folder), arguments.out, arguments.lang)
    print(json.dumps({"report": str(path)}) if arguments.json else path)
    if arguments.open and not webbrowser.open(path.resolve().as_uri()):
        raise HostError(
            "No browser was found on this host; copy {path} to one that has a browser, and open it there.",
            path=typed_path(path),
        )
    return 0
