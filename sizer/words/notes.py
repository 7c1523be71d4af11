"""What a reader of a study must know of the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sizer.records.framework_options import PRECISIONS
from sizer.records.kinds import MODES
from sizer.records.study import Note, NoteKind
from sizer.records.units import format_number
from sizer.words.figures import paragraph
from sizer.words.language import _, _n
from sizer.words.names import either, listed


def note_in_words(note: Note) -> str:
    """One note, in a sentence."""
    if note.kind is NoteKind.OTHER:
        return note.text
    if note.kind is NoteKind.IMPORTED:
        return _n(
            "Imported from {table}, {count} row: measured elsewhere, on a machine unknown to sizer.",
            "Imported from {table}, {count} rows: measured elsewhere, on a machine unknown to sizer.",
            note.rows,
            table=note.table,
        )
    if note.kind in _OF_TABLES:
        return _OF_TABLES[note.kind](note)
    known = {
        "fix": note.fix,
        "workloads": _some(note.workloads),
        "gpu": note.gpu,
        "rate": format_number(note.samples_per_second or 0),
        "source": note.source,
    }
    return {
        NoteKind.NO_FRACTIONAL_VCPUS: _(
            "This host does not allow fractions of a vCPU. To allow them, type: {fix}", **known
        ),
        NoteKind.NO_MEMORY_AXIS: _("This host does not allow memory limits. To allow them, type: {fix}", **known),
        NoteKind.NO_DISK_AXIS: _(
            "This host does not allow emulated disks, so disks were not varied. To allow them, type: {fix}", **known
        ),
        NoteKind.NO_DEVICE: _(
            "The table has no `device` or `gpu` for {workloads}, so the CPU is assumed; if it was a GPU, add a column "
            "`device` (cuda:0) or `gpu`.",
            **known,
        ),
        NoteKind.NO_VCPUS: _("The table has no `vcpus` for {workloads}, so how many are needed is not known.", **known),
        NoteKind.PUBLISHED_RATE: _(
            "The table has no `accelerator_samples_per_second` for {workloads} on the emulated {gpu}, so the published "
            "{rate} samples/s is used ({source}).",
            **known,
        ),
    }[note.kind]


def _columns_read(note: Note) -> str:
    pairs = [
        _("`{column}` as {name}", column=column, name=name)
        for column, name in zip(note.columns, note.read_as, strict=True)
    ]
    return _("Columns of the table are read by their meaning: {pairs}.", pairs=listed(pairs))


def _cell_read(note: Note) -> dict[str, object]:
    """In which columns, the first cell as it is written, and what it was read as."""
    return {"columns": _quoted(note.columns), "text": note.text, "read_as": "".join(note.read_as)}


def _not_measured(note: Note) -> str:
    return _("Rows that say that nothing was measured are left out: {lines}.", lines=_lines(note))


def _cells_merged(note: Note) -> str:
    return _(
        "Rows that begin with empty cells are read with what is above these, as in merged cells: {lines}.",
        lines=_lines(note),
    )


def _batch_of_one_gpu(note: Note) -> str:
    return _(
        "{columns} is the batch of one accelerator, so `batch_size` is that times `gpu_count`.",
        columns=_quoted(note.columns),
    )


def _gpu_names_read(note: Note) -> str:
    pairs = [
        _("`{name}` as {read_as}", name=name, read_as=read_as)
        for name, read_as in zip(note.names, note.read_as, strict=True)
    ]
    return _("Accelerators are called as in price lists: {pairs}.", pairs=_listed_some(pairs))


def _rate_of_one_gpu(note: Note) -> str:
    return _(
        "{columns} is the rate of one accelerator, so `throughput` is that times `gpu_count`.",
        columns=_quoted(note.columns),
    )


def _price_of_one_gpu(note: Note) -> str:
    return _(
        "{columns} is the price of one accelerator, so that of the machine is that times `gpu_count`.",
        columns=_quoted(note.columns),
    )


def _counts_differ(note: Note) -> str:
    return _(
        "A name counts other accelerators than `gpu_count` in {lines}: where that is 1, it is taken to count the whole "
        "of the name, `8x V100` as 8; else `gpu_count` holds. Write how many there were into both.",
        lines=_lines(note),
    )


def _count_not_of_gpus(note: Note) -> str:
    return _(
        "{columns} has more than any machine has of accelerators, so it is not read as how many there were; if it is "
        "that, call it `gpu_count`.",
        columns=_quoted(note.columns),
    )


def _unit_left_out(note: Note) -> str:
    return _(
        "Nothing says the unit of {columns}, so it is not read; call it {names}.",
        columns=_quoted(note.columns),
        names=either([f"`{name}`" for name in note.names]),
    )


def _nodes_read(note: Note) -> str:
    said = [_("Rows of several machines are of all of these together.")]
    if note.columns:
        said.append(_("Figures of each machine: {columns}.", columns=_quoted(note.columns)))
    if note.names:
        said.append(_("Figures of all of them: {columns}.", columns=_quoted(note.names)))
    return paragraph(said)


def _memory_of_gpus(note: Note) -> str:
    return _(
        "{columns} has the memory of each row's own accelerator, or what was used of it, so it is not read as the "
        "machine's; that belongs into `memory_gib`, with the name of the machine in `instance_type`.",
        columns=_quoted(note.columns),
    )


def _cpu_not_vcpus(note: Note) -> str:
    said, has = map(format_number, note.rates)
    return _(
        "{columns} is not read as vCPUs: {line} has {said}, and {names} has {has} of them. If it is how many were "
        "used, call it `vcpus`.",
        columns=_quoted(note.columns),
        line=_lines(note),
        said=said,
        names=_some(note.names),
        has=has,
    )


def _hosts_of_gpus(note: Note) -> str:
    assumed = _(
        "GPUs are added to {names} as one chooses, and the table names none, so none are assumed; if there were any, "
        "add the columns `gpu` and `gpu_count`.",
        names=_some(note.names),
    )
    if not note.rows:
        return assumed
    return paragraph([assumed, _("What the host alone costs is not known; write it into `usd_per_hour`.")])


def _machine_at_odds(note: Note) -> str:
    known = {
        "lines": _lines(note),
        "columns": _quoted(note.columns),
        "said": note.text,
        "names": _some(note.names),
        "has": "".join(note.read_as),
    }
    if not known["has"]:
        return _(
            "{columns} is {said} in {lines}, and {names} has no GPU in the catalogue; correct one of the two cells.",
            **known,
        )
    return _(
        "{columns} is {said} in {lines}, and {names} has {has} in the catalogue; correct one of the two cells.",
        **known,
    )


def _lines(note: Note) -> str:
    lines = [_("line {line}", line=line) for line in note.lines]
    if note.rows:
        lines.append(_n("{count} more", "{count} more", note.rows))
    return listed(lines)


def _rate_from_epochs(note: Note) -> str:
    return _(
        "Where the table has no `throughput`, it is computed as `dataset_samples` over the time in {columns}.",
        columns=_quoted(note.columns),
    )


def _rate_from_batches(note: Note) -> str:
    if note.names:
        return _(
            "Where the table has no `throughput`, it is computed as `batch_size`, over all accelerators, over the time "
            "in {columns}.",
            columns=_quoted(note.columns),
        )
    return _(
        "Where the table has no `throughput`, it is computed as `batch_size` over the time in {columns}. `batch_size` "
        "is taken as the whole batch, over all accelerators; if it is that of one, call it `batch_size_per_gpu` and "
        "import again.",
        columns=_quoted(note.columns),
    )


def _rate_from_samples(note: Note) -> str:
    return _(
        "Where the table has no `throughput`, it is computed as one over the time in {columns}.",
        columns=_quoted(note.columns),
    )


def _relative_rates(note: Note) -> str:
    return _(
        "The rates in {columns} are relative: they can be compared, but nothing is known of samples a second, or of "
        "what a sample costs.",
        columns=_quoted(note.columns),
    )


def _machines_known(note: Note) -> str:
    return _(
        "Empty cells of {columns} are filled in from the catalogue, which knows {names}.",
        columns=_quoted(note.columns),
        names=_some(note.names),
    )


def _machines_partly_known(note: Note) -> str:
    return _(
        "The catalogue does not know {names}, so what such rows leave empty stays empty; write it into the table to "
        "have it in the answer.",
        names=_some(note.names),
    )


def _cpus_named(note: Note) -> str:
    pairs = [
        _("`{name}` as {read_as}", name=name, read_as=read_as)
        for name, read_as in zip(note.names, note.read_as, strict=True)
    ]
    return _("CPUs with a name are machines of their own, without an accelerator: {pairs}.", pairs=_listed_some(pairs))


def _words_with_lines(note: Note) -> str:
    pairs = zip(note.names, note.lines, strict=True)
    return _listed_some([_("`{name}` (line {line})", name=name, line=line) for name, line in pairs])


def _precisions_unknown(note: Note) -> str:
    return _(
        "{columns} says {pairs}, which is no precision that sizer knows, so jobs are told apart by the word alone. "
        "Write {precisions}, if it is one of these.",
        columns=_quoted(note.columns),
        pairs=_words_with_lines(note),
        precisions=either(PRECISIONS),
    )


def _modes_unknown(note: Note) -> str:
    return _(
        "{columns} says {pairs}, which is no mode that sizer knows, so jobs are told apart by the word alone. Write "
        "{modes}, if it is one of these.",
        columns=_quoted(note.columns),
        pairs=_words_with_lines(note),
        modes=either(MODES),
    )


def _versions_named(note: Note) -> str:
    return _(
        "Rows differ only in {columns}, so these are compared as frameworks of their own: {names}.",
        columns=_quoted(note.columns),
        names=_some(note.names),
    )


def _batch_like_of_one(note: Note) -> str:
    return _(
        "By their `batch_size`, several accelerators would be no faster than one in {lines}, as if it were the batch "
        "of one of them. If it is, these rates are too low: call it `batch_size_per_gpu` and import again.",
        lines=_lines(note),
    )


def _gaps(note: Note) -> str:
    return _(
        "{columns} is empty in {lines}, though other rows of the same workload have it. Such a row is compared as it "
        "is, and left out where a curve over {columns} is needed.",
        columns=_quoted(note.columns),
        lines=_lines(note),
    )


def _jobs_named_apart(note: Note) -> str:
    found = _(
        "Rows of `{name}` differ in {columns}, so they are different jobs: {workloads}.",
        name=note.text,
        columns=_quoted(note.columns),
        workloads=_some(note.workloads),
    )
    if not note.rows:
        return found
    more = _n("{count} more workload is named apart so.", "{count} more workloads are named apart so.", note.rows)
    return paragraph([found, more])


def _named_by_column(note: Note) -> str:
    return _("The table has no `workload`, so each value of {columns} is one.", columns=_quoted(note.columns))


def _repeats_differ(note: Note) -> str:
    line, other = note.lines
    rate, other_rate = map(format_number, note.rates)
    found = _(
        "Repeats of one configuration differ more than threefold, line {line} and line {other}: {rate} and "
        "{other_rate}. Look whether one is a slip.",
        line=line,
        other=other,
        rate=rate,
        other_rate=other_rate,
    )
    if not note.rows:
        return found
    more = _n("{count} more configuration is like that.", "{count} more configurations are like that.", note.rows)
    return paragraph([found, more])


def _taken_as_repeats(note: Note) -> str:
    line, other = note.lines
    return _(
        "Rows that differ only in {columns}, such as line {line} and line {other}, are taken as repeats of one "
        "configuration. If they are different machines, name each in a column `instance_type`; if different jobs, type "
        "`--job-by COLUMN` with one of these columns.",
        columns=_quoted(note.columns),
        line=line,
        other=other,
    )


def _disk_class_inferred(note: Note) -> str:
    pairs = [
        _("`{name}` is {disk_class}", name=name, disk_class=read_as)
        for name, read_as in zip(note.names, note.read_as, strict=True)
    ]
    return _(
        "The table has no `disk_class` for some disks, so it is taken from their names: {pairs}. If that is wrong, "
        "add the column.",
        pairs=_listed_some(pairs),
    )


def _no_disk_class(note: Note) -> str:
    return _(
        "It is not known what kind of disk {names} is; add a column `disk_class` with nvme, ssd or standard.",
        names=_alternatives(note.names),
    )


_OF_TABLES: dict[NoteKind, Callable[[Note], str]] = {
    NoteKind.COLUMNS_READ: _columns_read,
    NoteKind.THOUSANDS: lambda note: _(
        "A comma in {columns} is read as separating thousands: `{text}` as {read_as}.", **_cell_read(note)
    ),
    NoteKind.DECIMAL_COMMAS: lambda note: _(
        "A comma in {columns} is read as the decimal one: `{text}` as {read_as}.", **_cell_read(note)
    ),
    NoteKind.MARKS_IGNORED: lambda note: _(
        "What stands around the figures in {columns} is not read: `{text}` is {read_as}.", **_cell_read(note)
    ),
    NoteKind.COUNTS_IN_NAMES: lambda note: _(
        "The cells of {columns} are read as a count and a name: `{text}` as {read_as}.", **_cell_read(note)
    ),
    NoteKind.FAILURES_READ: lambda note: _(
        "A cell of {columns} without a figure says how the run ended: `{text}` is read as {read_as}.",
        **_cell_read(note),
    ),
    NoteKind.INPUTS_READ: lambda note: _(
        "Cells of `input` are read by their meaning, such as `{text}` as {read_as}.", **_cell_read(note)
    ),
    NoteKind.NOT_MEASURED: _not_measured,
    NoteKind.CELLS_MERGED: _cells_merged,
    NoteKind.BATCH_OF_ONE_GPU: _batch_of_one_gpu,
    NoteKind.UNITS_READ: lambda note: _(
        "Rates in {columns} become rates a second: `{text}` is read as {read_as}.", **_cell_read(note)
    ),
    NoteKind.GPU_NAMES_READ: _gpu_names_read,
    NoteKind.RATE_OF_ONE_GPU: _rate_of_one_gpu,
    NoteKind.PRICE_OF_ONE_GPU: _price_of_one_gpu,
    NoteKind.COUNTS_DIFFER: _counts_differ,
    NoteKind.COUNT_NOT_OF_GPUS: _count_not_of_gpus,
    NoteKind.NODES_READ: _nodes_read,
    NoteKind.UNIT_LEFT_OUT: _unit_left_out,
    NoteKind.MEMORY_OF_GPUS: _memory_of_gpus,
    NoteKind.CPU_NOT_VCPUS: _cpu_not_vcpus,
    NoteKind.HOSTS_OF_GPUS: _hosts_of_gpus,
    NoteKind.MACHINE_AT_ODDS: _machine_at_odds,
    NoteKind.MEMORY_IN_GIB: lambda note: _(
        "The table has as many GB of memory for {names} as these have GiB in the catalogue, so they are read as GiB.",
        names=_some(note.names),
    ),
    NoteKind.WIDE_COLUMNS: lambda note: _(
        "Each of {columns} is read as a row of its own, with its `{column}`; lines are counted so.",
        columns=_quoted(note.columns),
        column="` and `".join(note.read_as),
    ),
    NoteKind.TITLE_LEFT_OUT: lambda note: _("What is above the header is left out: `{title}`.", title=note.text),
    NoteKind.NAMED_BY_TABLE: lambda note: _(
        "The table has no column `workload`, so all its rows are one job, called `{name}`.", name=note.text
    ),
    NoteKind.RATE_FROM_EPOCHS: _rate_from_epochs,
    NoteKind.RATE_FROM_BATCHES: _rate_from_batches,
    NoteKind.RATE_FROM_SAMPLES: _rate_from_samples,
    NoteKind.RELATIVE_RATES: _relative_rates,
    NoteKind.MACHINES_KNOWN: _machines_known,
    NoteKind.MACHINES_PARTLY_KNOWN: _machines_partly_known,
    NoteKind.CPUS_NAMED: _cpus_named,
    NoteKind.MODES_UNKNOWN: _modes_unknown,
    NoteKind.PRECISIONS_UNKNOWN: _precisions_unknown,
    NoteKind.VERSIONS_NAMED: _versions_named,
    NoteKind.BATCH_LIKE_OF_ONE: _batch_like_of_one,
    NoteKind.GAPS: _gaps,
    NoteKind.JOBS_NAMED_APART: _jobs_named_apart,
    NoteKind.NAMED_BY_COLUMN: _named_by_column,
    NoteKind.REPEATS_DIFFER: _repeats_differ,
    NoteKind.TAKEN_AS_REPEATS: _taken_as_repeats,
    NoteKind.DISK_CLASS_INFERRED: _disk_class_inferred,
    NoteKind.NO_DISK_CLASS: _no_disk_class,
}
"""What is said of a table as it is imported."""

MOST_NAMED = 8


def _quoted(names: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in names])


def _some(names: Sequence[str]) -> str:
    return _listed_some([f"`{name}`" for name in names])


def _listed_some(names: Sequence[str]) -> str:
    """All of a few names; of many the first ones, and how many more."""
    if len(names) <= MOST_NAMED:
        return listed(names)
    more = len(names) - MOST_NAMED + 1
    return listed([*names[: MOST_NAMED - 1], _n("{count} more", "{count} more", more)])


def _alternatives(names: Sequence[str]) -> str:
    return either([f"`{name}`" for name in names[:MOST_NAMED]])
