"""The catalogue holds the published figures, and says precisely what is wrong with a file that does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog import importing
from sizer.catalog.catalog import Catalog
from sizer.catalog.importing import catalog_text, import_csv
from sizer.records.messages import InputError
from sizer.records.units import GIB
from sizer.words.language import in_words
from sizer.words.terminal import disk_offer_line, instance_line
from tests import ROOT

MB = 1e6

AMOUNT = "0 or a number from 1e-60 to 1e+60"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load()


@pytest.mark.parametrize(
    ("name", "gib", "iops", "megabytes"),
    [
        ("alibaba/cloud_ssd", 100, 1800 + 30 * 100, 120 + 0.5 * 100),
        ("alibaba/cloud_ssd", 500, 16_800, 300),
        ("alibaba/cloud_efficiency", 2000, 5000, 140),
        ("alibaba/local-nvme-i1", 1000, 165_000, 1400),
        ("aws/gp3", 500, 3000, 125),
        ("aws/st1", 1000, 500, 39),
        ("gcp/pd-standard", 1000, 750, 120),
    ],
)
def test_disk_figures(catalog: Catalog, name: str, gib: int, iops: float, megabytes: float) -> None:
    """A tier of S GiB gives min(base + per_gib * S, max), written like read."""
    rates = catalog.disk_rates(name, gib * GIB)
    assert rates.read_iops == pytest.approx(iops)
    assert rates.read_bytes_per_second == pytest.approx(megabytes * MB)
    assert (rates.write_iops, rates.write_bytes_per_second) == (rates.read_iops, rates.read_bytes_per_second)


def test_disk_sizes_that_are_not_sold_are_refused(catalog: Catalog) -> None:
    """Outside the sizes on offer the range is named."""
    with pytest.raises(InputError, match="not sold with 10 GiB; give a size from 20 GiB to 32768 GiB"):
        catalog.disk_rates("alibaba/cloud_ssd", 10 * GIB)


def test_unknown_disk_names_the_nearest(catalog: Catalog) -> None:
    """A slip of the pen is answered with the name that was meant."""
    with pytest.raises(InputError, match="did you mean `alibaba/cloud_ssd`"):
        catalog.disk_rates("alibaba/cloudssd", 100 * GIB)


def test_accelerator_rates(catalog: Catalog) -> None:
    """Published rates have their source; what was not published is refused with what was."""
    rate = catalog.accelerator_rate("train", "resnet50", "P100", batch_size=64, framework="tensorflow")
    assert (rate.samples_per_second, rate.batch_size, rate.as_of) == (219, 64, "2017")
    assert "TensorFlow" in rate.source
    assert catalog.accelerator_rate("infer", "resnet50", "T4", batch_size=32).samples_per_second == 420
    with pytest.raises(InputError, match="for resnet50: A10, A100"):
        catalog.accelerator_rate("train", "resnet50", "A10G")
    with pytest.raises(InputError, match="`train` and `infer`"):
        catalog.accelerator_rate("training", "resnet50", "P100")


def test_instances_keep_source_and_date_and_unknown_prices(catalog: Catalog) -> None:
    """Every entry says when and where from; a price that was not found is unknown and never 0."""
    found = {instance.instance_type: instance for instance in catalog.instance_types}
    assert found["m7i.large"].usd_per_hour == 0.1008
    assert found["m7i.large"].memory_bytes == 8 * GIB
    assert found["p3.2xlarge"].disk_bytes_per_second == 219 * MB
    assert found["ecs.gn5-c4g1.xlarge"].usd_per_hour is None
    assert (found["ecs.gn5-c4g1.xlarge"].vcpus, found["ecs.gn5-c4g1.xlarge"].gpu) == (4, "P100")
    assert all(instance.as_of and instance.source for instance in found.values())
    assert all(instance.usd_per_hour is None or instance.usd_per_hour > 0 for instance in found.values())


def test_what_was_retired_is_listed_and_never_offered(catalog: Catalog) -> None:
    """Of Azure's K80, P100 and V100 and AWS's K80, M60 and small V100 machines the list says since when."""
    gone = {each.instance_type: each.retired for each in catalog.instance_types if each.retired}
    years = {"NC24": 2023, "NC12s v2": 2023, "NC6s v3": 2025, "g3s.xlarge": 2025, "p3.8xlarge": 2026, "p2.xlarge": 2026}
    assert len(gone) == 19
    assert gone.items() >= years.items()
    assert not gone.keys() & {each.instance_type for each in catalog.instances()}
    assert "p3dn.24xlarge" in {each.instance_type for each in catalog.instances("V100")}
    lines = [instance_line(each) for each in catalog.instance_types]
    assert sum("; retired 20" in line and "$" not in line for line in lines) == 19
    with pytest.raises(InputError, match=r"`azure/NC6` cannot be rented any more \(retired 2023\)"):
        catalog.instance("azure/NC6")


def test_doubt_travels_with_the_price(catalog: Catalog) -> None:
    """A second-hand price says so, an unknown one too."""
    assert "$0.17 per GiB and month, unverified (2026" in disk_offer_line(catalog.disk("gcp/pd-ssd"))
    assert "price unknown" in disk_offer_line(catalog.disk("alibaba/cloud_ssd"))


def test_the_file_has_one_entry_a_line_and_is_its_own_form(catalog: Catalog, tmp_path: Path) -> None:
    """What is written can be read again, and each entry is a line of its own."""
    text = catalog_text(catalog)
    (tmp_path / "mine.json").write_text(text)
    assert Catalog.load(tmp_path / "mine.json") == catalog
    entries = [line for line in text.splitlines() if line.startswith("{") and len(line) > 1]
    assert len(entries) == len(catalog.instance_types) + len(catalog.disks) + len(catalog.accelerators)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"usd_per_hour": -1},
            f"mine.json: instances entry 1: usd_per_hour: expected {AMOUNT}, found -1",
        ),
        ({"retired": 23}, "mine.json: instances entry 1: retired: expected a number from 2000 to 2100, found 23"),
        ({"vcpus": "four"}, "mine.json: instances entry 1: vcpus: expected a number, found 'four'"),
        ({"memory_bytes": 1.5}, "mine.json: instances entry 1: memory_bytes: expected a whole number, found 1.5"),
        ({"source": ""}, "mine.json: instances entry 1: source: expected a text, found ''"),
        ({"price": 1}, "mine.json: instances entry 1: unknown field `price`"),
        ({"vcpus": 10**400}, "vcpus: expected a number that fits a float, found 1000"),
        ({"vcpus": 0}, "vcpus: expected a number from 0.000244141 to 4096, found 0"),
        (
            {"memory_bytes": 10**30},
            "memory_bytes: expected a number from 1 to 1152921504606846976, found 1000000000000000000000000000000",
        ),
        (
            {"usd_per_hour": float("nan")},
            f"usd_per_hour: expected {AMOUNT}, found nan",
        ),
        ({"usd_per_hour": 1e308}, f"usd_per_hour: expected {AMOUNT}, found 1e+308"),
        ({"source": ["x" * 10_000]}, "source: expected text, found a list"),
    ],
)
def test_a_wrong_field_is_named(catalog: Catalog, tmp_path: Path, change: dict[str, object], sentence: str) -> None:
    """File, entry and field are in the sentence."""
    data = json.loads(catalog_text(catalog))
    data["instances"][0] |= change
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as error:
        Catalog.load(path)
    assert sentence in str(error.value)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """No JSON, another version, no file: a sentence each."""
    path = tmp_path / "mine.json"
    with pytest.raises(InputError, match=r"mine\.json: there is no such file"):
        Catalog.load(path)
    path.write_text("provider,region")
    with pytest.raises(InputError, match="is not JSON"):
        Catalog.load(path)
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="is nested too deeply for a catalogue"):
        Catalog.load(path)
    with pytest.raises(InputError, match="/dev/zero is larger than 64 MiB, too large for a catalogue"):
        Catalog.load("/dev/zero")
    path.write_text('{"schema_version": 99}')
    with pytest.raises(InputError, match="schema_version is 99"):
        Catalog.load(path)


def test_csv_becomes_entries(tmp_path: Path) -> None:
    """Rates in MB/s and sizes in GiB become bytes; an empty price stays unknown; a bad cell is named by its line."""
    path = tmp_path / "mine.csv"
    header = (
        "provider,region,instance_type,vcpus,memory_gib,gpu,gpu_count,gpu_memory_gib,local_nvme_gib,"
        "disk_cap_mbps,usd_per_hour,as_of,source"
    )
    path.write_text(f"{header}\nme,,box.1,4,16,,0,,,250,,2026-01-01,my own list\n")
    (box,) = import_csv([path]).instance_types
    assert (box.memory_bytes, box.disk_bytes_per_second, box.usd_per_hour, box.gpu) == (16 * GIB, 250 * MB, None, None)
    path.write_text(f"{header}\nme,,box.1,many,16,,0,,,250,,2026-01-01,my own list\n")
    with pytest.raises(InputError, match=r"mine.csv line 2: vcpus: `many` is not a number"):
        import_csv([path])
    for count in ("1.5", "nan", "inf", "1e400"):
        path.write_text(f"{header}\nme,,box.1,4,16,T4,{count},,,250,,2026-01-01,my own list\n")
        with pytest.raises(InputError, match=rf"line 2: gpu_count: `{count}` is not a (whole )?number"):
            import_csv([path])
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="needs a column"):
        import_csv([path])


def test_the_page_names_every_column_of_a_catalogue() -> None:
    page = (ROOT / "docs" / "import.md").read_text("utf-8")
    assert [name for name in importing.COLUMNS if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\x7fELF\xd0\xff", "mine.csv line 1 is not UTF-8"),
        (b"mode,samples_per_second\n" + b"x" * 200_000 + b",1\n", "line 2: a cell is too long"),
        (b"provider,instance_type\nme,box.1,4\n", "line 2: 3 cells, but the header has 2 columns"),
        (b"provider,instance_type\n", "has a header but no rows"),
        (b"", "is empty; write a header"),
        (
            b"provider,instance_type\nme,box.1\n",
            "mine.csv: the header has no column vcpus, memory_gib, as_of and source; a table of this kind needs "
            "provider, instance_type, vcpus, memory_gib, as_of and source, and may have region, gpu, ",
        ),
        (b"disk_tier,provider,as_of,source,class\nd,me,x,y,ssd\n", "no column read_iops_base, read_iops_per_gib, "),
        (b"samples_per_second,gpu\n1,V100\n", "no column mode, network, precision, framework, as_of and source"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    """One sentence, with the line where there is one."""
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        import_csv([path])


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
