"""Records refuse to be read as what they are not: a figure of the wrong type is a mistake, not a sentence."""

from __future__ import annotations

import pytest

from sizer.records.messages import InputError
from sizer.records.prediction import ReasonCode, reason
from sizer.records.study import Study
from sizer.records.units import GIB, parse_data_size
from sizer.words.language import in_words

MIXED = reason(ReasonCode.TOO_FEW_VALUES, axis="vcpus", values=(1.0, 2.0), count=2, worth=False, best=None)


def test_a_figure_is_read_by_its_type() -> None:
    """A number, a list of numbers or of names, or text, which may be missing."""
    assert MIXED.number("count") == 2
    assert MIXED.numbers("values") == (1.0, 2.0)
    assert MIXED.texts("values") == ("1.0", "2.0")
    assert (MIXED.text("axis"), MIXED.text("missing")) == ("vcpus", "")


def test_a_figure_of_another_type_is_named() -> None:
    """The reason's code and the figure's name find the place."""
    with pytest.raises(TypeError, match="too_few_values: axis is 'vcpus', not a number"):
        MIXED.number("axis")
    with pytest.raises(TypeError, match="too_few_values: count is 2, not a list"):
        MIXED.numbers("count")
    with pytest.raises(TypeError, match="too_few_values: axis is 'vcpus', not a list"):
        MIXED.texts("axis")


@pytest.mark.parametrize(("name", "there"), [("axis", True), ("worth", False), ("best", False), ("missing", False)])
def test_what_is_none_or_false_is_not_there(name: str, there: bool) -> None:
    """A sentence asks for a figure before it says it."""
    assert MIXED.has(name) is there


def test_a_study_has_only_its_own_disks() -> None:
    """Asking for another is a mistake of the program."""
    with pytest.raises(KeyError, match="nvme"):
        Study("s", ()).disk("nvme")


@pytest.mark.parametrize("text", ["0GiB", "99999999TiB"])
def test_the_size_of_a_data_set_is_above_nothing(text: str) -> None:
    """And below what any disk holds."""
    with pytest.raises(InputError) as refused:
        parse_data_size(text)
    assert in_words(refused.value).startswith(f"`{text}` is not the size of a data set; give one of up to ")
    assert parse_data_size("600GiB") == 600 * GIB
