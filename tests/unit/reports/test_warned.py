"""What the warnings of a study say together."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports.doubts import warned
from sizer.bundled.reports.material import Material
from sizer.records.run import RunWarning, WarningKind
from sizer.words.warnings import meaning_of_warning, warning_names


def test_warnings_of_a_kind_are_one_line(material: Material) -> None:
    """Three runs that were contended by different amounts are one warning with a range."""
    run = material.runs[0]
    found = [
        replace(run, warnings=(RunWarning(WarningKind.CONTENDED, {"cores": cores}),)) for cores in (0.06, 1.21, 0.31)
    ]
    short = replace(run, warnings=(RunWarning(WarningKind.SHORT, {"seconds": 4.0}),))
    assert warned.by_kind([*found, short]) == [
        {
            "kind": "contended",
            "where": "3 runs",
            "what": "Something else on this host used 0.06–1.21 cores meanwhile.",
            "meaning": meaning_of_warning(WarningKind.CONTENDED),
        },
        {
            "kind": "short",
            "where": "1 run",
            "what": "Stopped at the deadline after 4 s of steady state.",
            "meaning": meaning_of_warning(WarningKind.SHORT),
        },
    ]


def test_a_run_is_counted_once_however_often_it_is_warned(material: Material) -> None:
    """Figures of one unit are one range."""
    run = material.runs[0]
    twice = tuple(RunWarning(WarningKind.SWAPPED, {"bytes": size * 2**20}) for size in (12, 980))
    found = [replace(run, warnings=twice), replace(run, warnings=twice[:1])]
    (line,) = warned.by_kind(found)
    assert (line["where"], line["what"]) == ("2 runs", "Up to 12–980 MiB of its memory was in swap.")


def test_only_so_many_wordings_are_shown(material: Material) -> None:
    """A kind of which every run says something else does not fill the page."""
    found = [
        replace(material.runs[0], warnings=(RunWarning(WarningKind.OTHER, text=word),))
        for word in ("one", "two", "three", "four")
    ]
    (line,) = warned.by_kind(found)
    assert (line["kind"], line["where"], line["what"]) == ("other", "4 runs", "One; two; three …")


def test_a_warning_without_figures_is_its_kind(material: Material) -> None:
    """A table that was imported has the kinds alone."""
    old = replace(material.runs[0], warnings=(RunWarning(WarningKind.THROTTLED),))
    assert warning_names(old) == ["throttled"]
    (line,) = warned.by_kind([old])
    assert (line["kind"], line["where"], line["what"]) == ("throttled", "1 run", "")


def test_units_are_told_apart_only_where_they_are_said(material: Material) -> None:
    """Cores are cores, whatever a run counts; a rate of images is none of words."""
    run = material.runs[0]
    for kind, figures, number in (
        (WarningKind.CONTENDED, {"cores": 0.3}, 1),
        (WarningKind.TWO_RATES, {"before": 9.0, "after": 5.0, "seconds": 3.0}, 2),
    ):
        found = [replace(run, sample_unit=unit, warnings=(RunWarning(kind, figures),)) for unit in ("image", "word")]
        (line,) = warned.by_kind(found)
        assert line["what"].count(";") == 2 * number - 1 - (kind is WarningKind.CONTENDED)


def test_how_far_the_host_drifted_is_left_to_the_picture(material: Material) -> None:
    """The sentences of single runs would fill the page."""
    drifting = RunWarning(WarningKind.DRIFTING, {"before": 9.0, "after": 5.0}, "image")
    (line,) = warned.by_kind([replace(material.runs[0], warnings=(drifting,))])
    assert line["what"] == ""
    assert "slower or faster" in line["meaning"]
