"""import: measurements made elsewhere become a study folder."""

from __future__ import annotations

import argparse
import json

from sizer import api
from sizer.cli.import_progress import ImportProgress
from sizer.words.language import ENGLISH, in_language
from sizer.words.notes import note_in_words


def import_table(arguments: argparse.Namespace) -> int:
    with ImportProgress() as progress:
        imported = api.import_table(arguments.file, arguments.out, progress, arguments.job_by)
    if arguments.json:
        print(json.dumps(_form(imported), indent=1))
    return 0


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
