"""What a reader of a study must know of the whole of it: what a host does not allow, how a table was read."""

from __future__ import annotations

from sizer.records.frameworks import PRECISIONS
from sizer.records.kinds import MODES
from sizer.records.notes import Note, NoteKind
from sizer.records.units import format_number
from sizer.words.language import MOST_NAMED, Sentence, Templates, _, _n, coded, either, listed, listed_some

_K = NoteKind
_NOTES: Templates[NoteKind, str] = {
    # What a host does not allow, and what a study or a table does not say.
    _K.OTHER: "{text}",
    _K.IMPORTED: "Imported from {table}, {rows:rows}: measured elsewhere, on a machine unknown to sizer.",
    _K.NO_FRACTIONAL_VCPUS: "This host does not allow fractions of a vCPU. To allow them, type: {fix}",
    _K.NO_MEMORY_AXIS: "This host does not allow memory limits. To allow them, type: {fix}",
    _K.NO_DISK_AXIS: "This host does not allow emulated disks, so disks were not varied. To allow them, type: {fix}",
    _K.NO_DEVICE: "The table has no `device` or `gpu` for {workloads:some}, so the CPU is assumed; if "
    "it was a GPU, add a column `device` (cuda:0) or `gpu`.",
    _K.NO_VCPUS: "The table has no `vcpus` for {workloads:some}, so how many are needed is not known.",
    _K.NO_DISK_CLASS: "It is not known what kind of disk {names_or} is; add a column `disk_class` with "
    "nvme, ssd or standard.",
    # How a table was read.
    _K.COLUMNS_READ: "Columns of the table are read by their meaning: {columns_as}.",
    **dict.fromkeys(
        (_K.THOUSANDS, _K.DECIMAL_COMMAS),
        "A comma in {columns:coded} is read as [[decimal?the decimal one]][[!decimal?separating "
        "thousands]]: `{text}` as {value}.",
    ),
    _K.MARKS_IGNORED: "What stands around the figures in {columns:coded} is not read: `{text}` is {value}.",
    _K.COUNTS_IN_NAMES: "The cells of {columns:coded} are read as a count and a name: `{text}` as {value}.",
    _K.FAILURES_READ: "A cell of {columns:coded} without a figure says how the run ended: `{text}` is read as {value}.",
    _K.INPUTS_READ: "Cells of `input` are read by their meaning, such as `{text}` as {value}.",
    _K.UNITS_READ: "Rates in {columns:coded} become rates a second: `{text}` is read as {value}.",
    _K.NOT_MEASURED: "Rows that say that nothing was measured are left out: {where}.",
    _K.CELLS_MERGED: "Rows that begin with empty cells are read with what is above these, as in merged cells: {where}.",
    _K.WIDE_COLUMNS: "Each of {columns:coded} is read as a row of its own, with its {read_as:coded}; "
    "lines are counted so.",
    _K.TITLE_LEFT_OUT: "What is above the header is left out: `{text}`.",
    _K.NAMED_BY_TABLE: "The table has no column `workload`, so all its rows are one job, called `{text}`.",
    _K.NAMED_BY_COLUMN: "The table has no `workload`, so each value of {columns:coded} is one.",
    **dict.fromkeys(
        (_K.BATCH_OF_ONE_GPU, _K.RATE_OF_ONE_GPU, _K.PRICE_OF_ONE_GPU),
        "{columns:coded} is of one accelerator, so it is read as that times `gpu_count`.",
    ),
    _K.NODES_READ: "Rows of several machines are of all of these together.[[ Figures of each machine: "
    "{columns:coded}.]][[ Figures of all of them: {names:coded}.]]",
    **dict.fromkeys(
        (_K.RATE_FROM_EPOCHS, _K.RATE_FROM_SAMPLES),
        "Where the table has no `throughput`, it is computed as "
        "[[epochs?`dataset_samples`]][[!epochs?one]] over the time in {columns:coded}.",
    ),
    _K.RATE_FROM_BATCHES: "Where the table has no `throughput`, it is computed as `batch_size`[[names?, "
    "over all accelerators,]] over the time in {columns:coded}.[[!names? `batch_size` is taken as the "
    "whole batch, over all accelerators; if it is that of one, call it `batch_size_per_gpu` and import "
    "again.]]",
    _K.RELATIVE_RATES: "The rates in {columns:coded} are relative: they can be compared, but nothing is "
    "known of samples a second, or of what a sample costs.",
    _K.GPU_NAMES_READ: "Accelerators are called as in price lists: {names_as}.",
    _K.CPUS_NAMED: "CPUs with a name are machines of their own, without an accelerator: {names_as}.",
    _K.MACHINES_KNOWN: "Empty cells of {columns:coded} are filled in from the catalogue, which knows {names:some}.",
    _K.DISK_CLASS_INFERRED: "The table has no `disk_class` for some disks, so it is taken from their "
    "names: {names_are}. If that is wrong, add the column.",
    # What looks wrong in it, or may be another job.
    _K.COLUMN_DOUBTFUL: "It is not sure what {columns:coded} is, or in which unit, so it is not read; "
    "if it is known, type {names_or}.",
    _K.COUNTS_DIFFER: "A name counts other accelerators than `gpu_count` in {where}: where that is 1, "
    "it is taken to count the whole of the name, `8x V100` as 8; else `gpu_count` holds. Write how "
    "many there were into both.",
    _K.MACHINE_AT_ODDS: "{columns:coded} is {text} in {where}, and {names:some} has "
    "[[{value}]][[!value?no GPU]] in the catalogue; correct one of the two cells.",
    **dict.fromkeys(
        (_K.PRECISIONS_UNKNOWN, _K.MODES_UNKNOWN),
        "{columns:coded} says {names_in_lines}, which sizer does not know, so jobs are told apart by the "
        "word alone. Write {words:or}, if it is one of these.",
    ),
    _K.GAPS: "{columns:coded} is empty in {where}, though other rows of the same workload have it. Such "
    "a row is compared as it is, and left out where a curve over {columns:coded} is needed.",
    _K.JOBS_NAMED_APART: "Rows of `{text}` differ in {columns:coded}, so they are different jobs: "
    "{workloads:some}.[[ And {rows} more.]]",
    _K.REPEATS_DIFFER: "Repeats of one configuration differ more than threefold, line {lines[0]} and "
    "line {lines[1]}: {rates[0]} and {rates[1]}. Look whether one is a slip.[[ {rows} more are like "
    "that.]]",
    _K.TAKEN_AS_REPEATS: "Rows that differ only in {columns:coded}, such as line {lines[0]} and line "
    "{lines[1]}, are taken as repeats of one configuration. If they are different machines, name each "
    "in a column `instance_type`; if different jobs, type `--job-by COLUMN` with one of these columns.",
}


_AS, _IS, _IN = (Sentence("`{name}` as {value}"), Sentence("`{name}` is {value}"), Sentence("`{name}` (line {line})"))


def note_in_words(note: Note) -> str:
    """One note, in a sentence or two."""
    lines = [_("line {line}", line=line) for line in note.lines]
    values = {
        "value": "".join(note.read_as),
        "where": listed([*lines, *([_n("{count} more", "{count} more", note.rows)] if note.rows else [])]),
        "columns_as": listed([_AS(*pair) for pair in zip(note.columns, note.read_as, strict=False)]),
        "names_as": listed_some([_AS(*pair) for pair in zip(note.names, note.read_as, strict=False)]),
        "names_are": listed_some([_IS(*pair) for pair in zip(note.names, note.read_as, strict=False)]),
        "names_in_lines": listed_some([_IN(*pair) for pair in zip(note.names, note.lines, strict=False)]),
        "names_or": either(coded(note.names[:MOST_NAMED])),
        "rates": [*map(format_number, note.rates)],
        "words": PRECISIONS if note.kind is NoteKind.PRECISIONS_UNKNOWN else MODES,
        "decimal": note.kind is NoteKind.DECIMAL_COMMAS,
        "epochs": note.kind is NoteKind.RATE_FROM_EPOCHS,
    }
    return _(_NOTES[note.kind], **(vars(note) | values))
