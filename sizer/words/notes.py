"""What a reader of a study must know of the whole of it."""

from __future__ import annotations

from sizer.plan import Spread
from sizer.records import Note, NoteKind, format_number
from sizer.words.language import _, _n
from sizer.words.names import listed
from sizer.words.runs import spread_in_words


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
    known = {
        "fix": note.fix,
        "workloads": listed([f"`{name}`" for name in note.workloads]),
        "gpu": note.gpu,
        "rate": format_number(note.samples_per_second or 0),
        "source": note.source,
    }
    return {
        NoteKind.NO_FRACTIONAL_VCPUS: _(
            "This host does not allow fractions of a vCPU. To allow them, type: {fix}", **known
        ),
        NoteKind.NO_MEMORY_AXIS: _(
            "This host does not allow memory limits, so memory was not varied. To allow them, type: {fix}", **known
        ),
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


def drift_in_words(spread: Spread) -> str:
    """The host became slower or faster while the study was measured."""
    return _("The host drifted: {spread}.", spread=spread_in_words(spread))
