"""import: measurements made elsewhere become a study folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sizer import api
from sizer.cli.arguments import _, add_json, option, print_json
from sizer.cli.progress import ImportProgress
from sizer.exchange.measurements import COLUMNS
from sizer.records.messages import InputError, quoted
from sizer.words.language import ENGLISH, in_language
from sizer.words.studies.notes import note_in_words

REQUIRED = frozenset({"throughput", "vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count", "instance_type"})


def arguments(parser: argparse.ArgumentParser) -> None:
    others = [column for column in COLUMNS if column not in REQUIRED]
    parser.epilog = _(
        "Required columns: throughput (samples a second), and at least one of vcpus, memory_gib, disk, batch_size, "
        "gpu, gpu_count and instance_type. Common other names and units are understood and said; --map says any other. "
        "Optional columns, which docs/import.md explains: {others}. Any other column is kept as it is.",
        others=", ".join(others),
    )
    parser.add_argument("file", metavar="FILE.csv", help=_("a table with one run a row"))
    option(parser, "--out", _("the study folder, new or empty"), required=True, metavar="DIR")
    jobs = _("a column whose values are different jobs, such as concurrency; may be repeated")
    option(parser, "--job-by", jobs, action="append", default=[], metavar="COLUMN")
    meaning = _(
        "what a column of the table is: --map threads=vcpus, --map 'Time=step time (ms)', or --map note= to leave "
        "it unread; may be repeated"
    )
    option(parser, "--map", meaning, action="append", default=[], metavar="HEADER=COLUMN")
    machine = _("the instance type that all rows were measured on, such as aws/c6i.2xlarge")
    option(parser, "--measured-on", machine, metavar="PROVIDER/TYPE")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    columns = _columns(arguments.map)
    imported = api.import_table(
        arguments.file, arguments.out, ImportProgress(), arguments.job_by, columns, arguments.measured_on
    )
    if arguments.json:
        print_json(_form(imported))
    return 0


def _columns(maps: Sequence[str]) -> dict[str, str]:
    """What each `HEADER=COLUMN` says. Raises InputError for one that is none, or that names a header twice."""
    columns: dict[str, str] = {}
    for text in maps:
        # A header may have an equals sign in it, and the name of a column has none.
        header, sign, column = text.rpartition("=")
        if not sign or not header:
            raise InputError(
                "--map {text}: write a header, `=` and a column, such as threads=vcpus.", text=quoted(text)
            )
        if header in columns:
            raise InputError("--map names `{header}` twice; leave one out.", header=header)
        columns[header] = column.strip()
    return columns


def _form(imported: api.ImportedStudy) -> dict[str, object]:
    folder, table = imported.folder, imported.table
    with in_language(ENGLISH):
        notes = [note_in_words(note) for note in table.notes]
    return {
        "folder": str(folder.path),
        "runs": len(table.runs),
        "workloads": list(dict.fromkeys(run.spec.workload.name for run in table.runs)),
        "unknown_columns": list(table.unknown),
        "notes": notes,
        "report": str(folder.report_path),
    }
