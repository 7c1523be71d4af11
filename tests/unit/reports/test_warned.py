"""What the warnings of a study say together."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports import Material, warned
from sizer.records.run import RunWarning, WarningKind
from sizer.words import warning_names


def test_warnings_of_a_kind_are_one_line(material: Material) -> None:
    """Three runs that were contended by different amounts are one warning with a range."""
    run = material.runs[0]
    found = [
        replace(run, warnings=(RunWarning(WarningKind.CONTENDED, {"cores": cores}),)) for cores in (0.06, 1.21, 0.31)
    ]
    short = replace(run, warnings=(RunWarning(WarningKind.SHORT, {"seconds": 4.0}),))
    assert warned.by_kind([*found, short]) == [
        {"kind": "contended", "where": "3 runs", "what": "something else on this host used 0.06–1.21 cores meanwhile"},
        {"kind": "short", "where": "1 run", "what": "stopped at the deadline after 4 s of steady state"},
    ]


def test_a_run_is_counted_once_however_often_it_is_warned(material: Material) -> None:
    """Figures of one unit are one range."""
    run = material.runs[0]
    twice = tuple(RunWarning(WarningKind.SWAPPED, {"bytes": size * 2**20}) for size in (12, 980))
    found = [replace(run, warnings=twice), replace(run, warnings=twice[:1])]
    assert warned.by_kind(found) == [
        {"kind": "swapped", "where": "2 runs", "what": "up to 12–980 MiB of its memory was in swap"}
    ]


def test_only_so_many_wordings_are_shown(material: Material) -> None:
    """A kind of which every run says something else does not fill the page."""
    found = [
        replace(material.runs[0], warnings=(RunWarning(WarningKind.OTHER, text=word),))
        for word in ("one", "two", "three", "four")
    ]
    assert warned.by_kind(found) == [{"kind": "other", "where": "4 runs", "what": "one; two; three …"}]


def test_a_warning_without_figures_is_its_kind(material: Material) -> None:
    """A table that was imported has the kinds alone."""
    old = replace(material.runs[0], warnings=(RunWarning(WarningKind.THROTTLED),))
    assert warning_names(old) == ["throttled"]
    assert warned.by_kind([old]) == [{"kind": "throttled", "where": "1 run", "what": ""}]
