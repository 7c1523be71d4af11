"""Sizes that are not sold, and a catalogue with something else in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.importing import catalog_text
from sizer.records.errors import InputError
from sizer.records.units import GIB
from sizer.words.language import in_words


def test_a_disk_without_a_largest_size_names_its_smallest() -> None:
    """There is no range to name where nothing is too large."""
    offer = replace(Catalog.load().disk("alibaba/cloud_ssd"), max_bytes=None)
    with pytest.raises(InputError) as refused:
        offer.rates(10 * GIB)
    assert in_words(refused.value) == ("alibaba/cloud_ssd is not sold with 10 GiB; give a size of 20 GiB or more.")
    assert offer.rates(20 * GIB).read_iops is not None


def test_an_unknown_part_of_a_catalogue_is_named(tmp_path: Path) -> None:
    """What is not read is not passed over, as it may be a name that is misspelt."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**json.loads(catalog_text(Catalog.load())), "machines": []}))
    with pytest.raises(InputError) as refused:
        Catalog.load(path)
    assert in_words(refused.value) == f"{path}: unknown key `machines`; use instances, disks and accelerators."
