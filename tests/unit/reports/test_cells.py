"""The map of what binds, read back from its SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from sizer.bundled.reports.charts.cells import WIDTH, Cell, Cells


def drawn(cells: dict[tuple[int, int], Cell], rows: tuple[str, ...] = ("fast", "slow")) -> ElementTree.Element:
    return ElementTree.fromstring(str(Cells("label", "vCPUs", ("1", "2"), rows, cells, ("emulated", "")).draw()))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


CELLS = {
    (0, 0): Cell("185", "CPU", 0, "a", "183"),
    (0, 1): Cell("219", "GPU", 1, "b", is_answer=True),
    (1, 1): Cell("89", "disk", 2, "c", "91"),
}


def test_each_place_says_its_rate_and_what_binds() -> None:
    """By number and word, not by colour alone; a place that is not known is left empty."""
    root = drawn(CELLS)
    assert sorted(each.text or "" for each in of_class(root, "cell-rate")) == ["185", "219", "89"]
    assert sorted(each.text or "" for each in of_class(root, "cell-word")) == ["CPU", "GPU", "disk"]
    assert len(of_class(root, "hatched")) == 3


def test_what_was_measured_does_not_look_like_what_the_model_says() -> None:
    """Large everywhere is what the model says; what the runs gave stands under it, beside a point as in charts."""
    root = drawn(CELLS)
    assert sorted(each.text or "" for each in of_class(root, "cell-ran")) == ["183", "91"]
    assert len(of_class(root, "point")) == 2
    assert len([each for each in of_class(root, "measured") if each.tag == "rect"]) == 2
    assert len([each for each in of_class(root, "modelled") if each.tag == "rect"]) == 1


def test_the_answers_frame_lies_over_its_neighbours() -> None:
    """It is drawn last, so that no neighbour covers a part of it."""
    assert "answer-cell" in (of_class(drawn(CELLS), "cell")[-1].get("class") or "")


def test_long_names_stay_inside() -> None:
    """They are cut, and the cells keep their room."""
    root = drawn(CELLS, rows=("n" * 10_000, "slow"))
    assert len(of_class(root, "map-name")[0].text or "") < 30
    cell = of_class(root, "cell")[0]
    assert float(cell.get("width", "0")) > 100
    assert float(cell.get("x", "0")) + float(cell.get("width", "0")) < WIDTH
