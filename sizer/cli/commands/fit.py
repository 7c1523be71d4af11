"""fit: the model of a study's runs."""

from __future__ import annotations

import argparse

from sizer import api
from sizer.cli.arguments import add_folder, add_json, opened, print_json
from sizer.files.codec import to_json
from sizer.records.messages import NoAnswer
from sizer.words.model import model_line, parameter_line


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    model = api.fit(opened(arguments.folder))
    if arguments.json:
        print_json(to_json(model))
    for workload in () if arguments.json else model.workloads:
        print(model_line(workload))
        for parameter in workload.parameters:
            print(f"  {parameter_line(parameter, workload)}")
    return 0 if any(workload.refused is None for workload in model.workloads) else NoAnswer.exit_code
