"""import: measurements made elsewhere become a study folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sizer import api
from sizer.cli.arguments import _, add_json, option, print_json
from sizer.cli.progress import ImportProgress
from sizer.records.messages import InputError, quoted
from sizer.words.language import ENGLISH, in_language
from sizer.words.notes import note_in_words


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _(
        "Required columns: throughput (samples a second), and at least one of vcpus, memory_gib, "
        "disk, batch_size, gpu, gpu_count and instance_type. Common other names and units are understood and said; "
        "--map says any other. "
        "Optional columns: workload (the same in all rows of one job), framework, device, network, precision, input, "
        "cache, throughput_low and throughput_high (95 % interval), sample_unit, outcome (completed, out_of_memory, "
        "timeout, crashed, ...), the demands (core_seconds_per_sample, ...), bottleneck, hit_rate, warnings, "
        "started_at, repeat, "
        "epoch (0 is the first), first_epoch_throughput, kind, format, dataset, dataset_gib, dataset_samples, "
        "disk_read_iops, disk_read_mbps, disk_write_iops, disk_write_mbps, disk_class, disk_emulated, "
        "peak_anonymous_gib, accelerator_samples_per_second, isolates, latency_p50_ms, latency_p99_ms, mode, what a "
        "driver told of the GPU (gpu_busy, gpu_memory_peak_gib, gpu_watts, gpu_sm_mhz, gpu_memory_mhz), how sure an "
        "emulated rate is (accelerator_rate_low, accelerator_rate_high, accelerator_rate_basis), what several "
        "were said to lose to each other (accelerator_scaling_loss), and what was rented: provider, instance_type, "
        "region, usd_per_hour, usd_per_hour_spot and nodes_together. Any other column is kept as it "
        "is. See also docs/import.md."
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
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    with ImportProgress() as progress:
        imported = api.import_table(arguments.file, arguments.out, progress, arguments.job_by, _columns(arguments.map))
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
