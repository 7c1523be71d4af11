"""What the warnings of a study say together."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports import Material, warned


def test_warnings_of_a_kind_are_one_line(material: Material) -> None:
    """Three runs that were contended by different amounts are one warning with a range."""
    run = material.runs[0]
    told = [
        replace(run, warnings=(f"contended: something else on this host used {used} cores meanwhile",))
        for used in ("0.06", "1.21", "0.31")
    ]
    short = replace(run, warnings=("short: stopped at the deadline after 4 s of steady state",))
    assert warned.by_kind([*told, short]) == [
        {"kind": "contended", "where": "3 runs", "what": "something else on this host used 0.06–1.21 cores meanwhile"},
        {"kind": "short", "where": "1 run", "what": "stopped at the deadline after 4 s of steady state"},
    ]


def test_a_kind_in_different_words_is_still_one_line(material: Material) -> None:
    """What differs in its unit or its reason stands beside the rest of its kind, and the run is counted once."""
    run = material.runs[0]
    told = [
        replace(run, warnings=("memory rising: by 1,200 KiB", "memory rising: by 980 KiB")),
        replace(run, warnings=("memory rising: by 2 MiB",)),
    ]
    assert warned.by_kind(told) == [{"kind": "memory rising", "where": "2 runs", "what": "by 980–1,200 KiB; by 2 MiB"}]


def test_only_so_many_wordings_are_shown(material: Material) -> None:
    """A kind of which every run says something else does not fill the page."""
    told = [replace(material.runs[0], warnings=(f"odd: {word}",)) for word in ("one", "two", "three", "four")]
    assert warned.by_kind(told) == [{"kind": "odd", "where": "4 runs", "what": "one; two; three …"}]


def test_a_warning_without_a_colon_is_its_kind(material: Material) -> None:
    """Older records hold the bare word."""
    old = replace(material.runs[0], warnings=("throttled",))
    assert warned.kinds(old) == ["throttled"]
    assert warned.by_kind([old]) == [{"kind": "throttled", "where": "1 run", "what": ""}]
