"""The catalogue holds the published figures, and says precisely what is wrong with a file that does not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from sizer.catalog import importing, machines
from sizer.catalog.catalog import Catalog
from sizer.catalog.importers import own
from sizer.catalog.machines import InstanceType
from sizer.records.messages import InputError
from sizer.records.units import GIB
from sizer.words.language import in_words
from sizer.words.terminal import disk_offer_line, instance_line
from tests import ROOT

MB = 1e6
TODAY = date(2026, 11, 26)

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
        ("aws/st1", 2000, 500, 82),
        ("aws/gp3", 500, 3000, 131.07),
        ("aws/st1", 1000, 500, 41),
        ("gcp/pd-ssd", 500, 21_000, 503.31),
    ],
)
def test_disk_figures(catalog: Catalog, name: str, gib: int, iops: float, megabytes: float) -> None:
    """A tier of S GiB gives min(base + per_gib * S, max), written like read."""
    rates = catalog.disk(name).rates(gib * GIB)
    assert rates.read_iops == pytest.approx(iops)
    assert rates.read_bytes_per_second == pytest.approx(megabytes * MB)
    assert (rates.write_iops, rates.write_bytes_per_second) == (rates.read_iops, rates.read_bytes_per_second)


def test_disk_sizes_that_are_not_sold_are_refused(catalog: Catalog) -> None:
    """Outside the sizes on offer the range is named."""
    with pytest.raises(InputError, match="not sold with 10 GiB; give a size from 20 GiB to 32768 GiB"):
        catalog.disk("alibaba/cloud_ssd").rates(10 * GIB)


def test_unknown_disk_names_the_nearest(catalog: Catalog) -> None:
    """A slip of the pen is answered with the name that was meant."""
    with pytest.raises(InputError, match="did you mean `alibaba/cloud_ssd`"):
        catalog.disk("alibaba/cloudssd").rates(100 * GIB)


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
    """Every entry says where from; a price that was not found is unknown and never 0."""
    named = {instance.instance_type: instance for instance in catalog.instance_types}
    assert len(named) == len(catalog.instance_types) > 5600
    assert named["m7i.large"].usd_per_hour == 0.1008
    assert named["m7i.large"].memory_bytes == 8 * GIB
    assert named["p3.2xlarge"].disk_bytes_per_second == 218.75 * MB
    pascal = named["ecs.gn5-c4g1.xlarge"]
    assert (pascal.price_per_hour, pascal.currency, pascal.usd_per_hour) == (12.78, "CNY", None)
    assert (pascal.vcpus, pascal.gpu) == (4, "P100")
    assert all(instance.source for instance in catalog.instance_types)
    assert all(instance.price_per_hour is None or instance.price_per_hour > 0 for instance in catalog.instance_types)


def test_what_was_retired_is_listed_and_never_offered(catalog: Catalog) -> None:
    """Of Azure's K80, P100 and V100 and AWS's K80, M60 and small V100 machines the list says since when."""
    gone = {type_.instance_type: type_.retired for type_ in catalog.instance_types if type_.retired}
    years = {"Standard_NC24": 2023, "Standard_NC6s_v3": 2025, "g3s.xlarge": 2025, "p3.8xlarge": 2026, "p2.xlarge": 2026}
    assert len(gone) == 51
    assert gone.items() >= years.items()
    assert not gone.keys() & {instance.instance_type for instance in catalog.instances()}
    assert "p3dn.24xlarge" in {instance.instance_type for instance in catalog.instances("V100")}
    lines = [instance_line(type_, TODAY) for type_ in catalog.instance_types]
    assert sum("; retired 20" in line and "$" not in line for line in lines) == 51
    with pytest.raises(InputError, match=r"`azure/NC6` cannot be rented any more \(retired 2023\)"):
        catalog.instance("azure/NC6")
    with pytest.raises(InputError, match=r"The provider of `gpu_8x_v100` does not list it any more"):
        catalog.instance("gpu_8x_v100")


def test_slices_and_shared_cores_are_not_offered(catalog: Catalog) -> None:
    """A vCPU that bursts, and a third of a GPU, are not what was measured."""
    offered = {instance.instance_type for instance in catalog.offered}
    assert not offered & {"t3.large", "Standard_B2ms", "e2-small", "ecs.t6-c1m1.large", "g6f.xlarge", "dl1.24xlarge"}
    assert offered >= {"c7i.large", "e2-standard-2", "Standard_D2as_v5", "g6.xlarge", "Standard_NC24ads_A100_v4"}


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("Standard_NC6s_v3", ["Standard_NC6s_v3"]),
        ("AWS c6i.large", ["c6i.large"]),
        ("gcp/n1-highmem-64", ["n1-highmem-64", "n1-highmem-64+8xV100"]),
        ("n1-highmem-64+8xV100", ["n1-highmem-64+8xV100"]),
    ],
)
def test_the_names_of_a_type(catalog: Catalog, name: str, types: list[str]) -> None:
    """With its provider and without, of a host with GPUs the host's; Azure's with spaces as people write them."""
    assert [instance.instance_type for instance in catalog.called(name)] == types


def test_a_currency_is_converted_where_somebody_says_its_worth(catalog: Catalog) -> None:
    """Until then its prices come after those in US dollars, in their own order, and unknown ones last."""
    ranks = [(one.usd_per_hour is None, one.price_per_hour is None) for one in catalog.offered]
    assert ranks == sorted(ranks)
    alibaba = [one.price_per_hour for one in catalog.offered if one.currency == "CNY" and not one.is_arm]
    priced = [price for price in alibaba if price is not None]
    assert priced == sorted(priced)
    converted = catalog.at_rates({"CNY": 0.14}).instance("ecs.gn5-c4g1.xlarge")
    assert converted.usd_per_hour == pytest.approx(12.78 * 0.14)


def test_doubt_travels_with_the_price(catalog: Catalog) -> None:
    """A second-hand price says so, an unknown one too, and one that is old or of no known day."""
    assert "$0.17 per GiB and month, second hand (infracost golden) (2024" in disk_offer_line(
        catalog.disk("gcp/pd-ssd")
    )
    assert "price unknown" in disk_offer_line(catalog.disk("alibaba/cloud_ssd"))
    lines = [instance_line(catalog.called(name)[0], TODAY) for name in ("c7i.large", "ecs.c7.large", "VM.GPU2.1")]
    assert "$0.0892 an hour (us-east-1, 2026-07-20, " in lines[0]
    assert "CNY 0.408 an hour (cn-hangzhou, 2024-12-31, older than a year, " in lines[1]
    assert "$1.27 an hour (day unknown, " in lines[2]


def test_the_cache_is_made_once_and_made_again_when_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stale files go, a folder that cannot be written to is done without, and what is read is always the same."""
    monkeypatch.setenv("SIZER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "catalog-old.sqlite").write_text("of another version")

    def read() -> int:
        machines.shipped.cache_clear()
        machines.keep_shipped.cache_clear()
        machines.keep_shipped()
        return len(machines.records(InstanceType, machines.shipped()))

    count = read()
    (made,) = (tmp_path / "cache").iterdir()
    written = made.stat().st_mtime_ns
    assert (read(), made.stat().st_mtime_ns) == (count, written)
    for damaged in (b"", b"SQLite format 3\0 and no more", made.read_bytes()[:-5000]):
        made.write_bytes(damaged)
        assert read() == count
        assert [made] == list((tmp_path / "cache").iterdir())
    for unsafe in ("/proc/none", str(tmp_path / "strangers")):
        monkeypatch.setenv("SIZER_CACHE", unsafe)
        if unsafe != "/proc/none":
            Path(unsafe).mkdir()
            Path(unsafe).chmod(0o777)
        assert read() == count
    assert list((tmp_path / "strangers").iterdir()) == []
    machines.shipped.cache_clear()


def test_two_processes_make_one_cache(tmp_path: Path) -> None:
    """Each reads a whole one, whichever put it there."""
    ask = "from sizer.catalog.catalog import Catalog; print(len(Catalog.load(keep=True).instance_types))"
    environment = {**os.environ, "SIZER_CACHE": str(tmp_path)}
    both = [
        subprocess.Popen([sys.executable, "-c", ask], env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(2)
    ]
    assert len({process.communicate(timeout=60)[0] for process in both}) == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "gib", "usd", "iops"),
    [("aws/gp3", 100, 8, 3000), ("aws/gp2", 100, 10, 300), ("aws/io2", 20, 20 * 0.125 + 10_000 * 0.065, 10_000)],
)
def test_a_disk_costs_what_is_bought(catalog: Catalog, name: str, gib: int, usd: float, iops: float) -> None:
    """io2 of 20 GiB has at most 500 IOPS a GiB, and these are paid for."""
    tier = catalog.disk(name)
    assert tier.rates(gib * GIB).read_iops == iops
    assert tier.usd_per_month(gib * GIB) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("name", "gib", "asked", "given", "usd"),
    [
        ("aws/gp3", 500, (6000, 500e6), (6000, 500e6), 40 + 15 + 0.04 * (500 - 131.07)),
        ("aws/gp3", 500, (6000, None), (6000, 131.07e6), 40 + 15),
        ("aws/io2", 20, (8000, None), (8000, 524.29e6), 2.5 + 520),
        ("azure/ultra-disk", 500, (6000, 400e6), (6000, 400e6), 59.85 + 297.6 + 140),
    ],
)
def test_iops_and_bytes_a_second_are_bought(
    catalog: Catalog,
    name: str,
    gib: int,
    asked: tuple[float | None, ...],
    given: tuple[float, float],
    usd: float,
) -> None:
    """In all: what comes with a size need not be bought, and of some tiers MB/s follow from IOPS."""
    tier = catalog.disk(name)
    rates = tier.rates(gib * GIB, *asked)
    assert (rates.read_iops, rates.write_bytes_per_second) == pytest.approx(given)
    assert tier.usd_per_month(gib * GIB, rates) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("name", "gib", "asked", "why"),
    [
        ("aws/gp2", 500, (6000, None), "aws/gp2 sells no `iops` beside its size"),
        ("aws/gp3", 500, (90_000, None), "`iops` of 80000 at the most"),
        ("aws/gp3", 4, (6000, None), "`iops` of 3000 at the most"),
        ("aws/gp3", 500, (3000, 1200e6), "`mbps` of 786.432 at the most"),
        ("aws/io2", 20, (12_000, None), "`iops` of 10000 at the most"),
    ],
)
def test_more_than_is_sold(catalog: Catalog, name: str, gib: int, asked: tuple[float | None, ...], why: str) -> None:
    with pytest.raises(InputError, match=why):
        catalog.disk(name).rates(gib * GIB, *asked)


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("AWS gp3", "aws/gp3"),
        ("cloud_ssd", None),
        ("SSD", None),
        ("Local SSD", None),
    ],
)
def test_a_disk_that_names_a_tier_is_that_tier(catalog: Catalog, name: str, tier: str | None) -> None:
    """What two providers call alike is neither."""
    disk_tier = catalog.tier(name)
    assert (disk_tier and disk_tier.name) == tier


HEADER = (
    "provider,region,instance_type,vcpus,memory_gib,gpu,gpu_count,gpu_memory_gib,local_nvme_gib,"
    "disk_cap_mbps,usd_per_hour,retired,as_of,source"
)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("me,,box.1,many,16,,0,,,250,,,2026-01-01,me", "mine.csv line 2: vcpus: `many` is not a number"),
        (
            "me,,box.1,0,16,,0,,,250,,,2026-01-01,me",
            "line 2: vcpus: expected a number from 0.0002",
        ),
        ("me,,box.1,4,16,,0,,,250,1e308,,2026-01-01,me", f"line 2: price_per_hour: expected {AMOUNT}, found 1e+308"),
        ("me,,box.1,4,16,T4,nan,,,250,,,2026-01-01,me", "line 2: gpu_count: `nan` is not a number"),
        ("me,,box.1,4,16,,0,,,250,,23,2026-01-01,me", "line 2: retired: expected a number from 2000 to 2100, found 23"),
        (",,box.1,4,16,,0,,,250,,,2026-01-01,me", "line 2: provider: "),
        ("me,,box.1,4,16,,0,,,250,,,Nov 2026,me", "line 2: as_of: expected a day such as 2026-11-26"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, row: str, sentence: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}\n{row}\n")
    with pytest.raises(InputError) as refused:
        Catalog.load(path)
    assert sentence in in_words(refused.value)


def test_csv_becomes_entries(tmp_path: Path) -> None:
    """Rates in MB/s and sizes in GiB become bytes; an empty price stays unknown; what it has not is sizer's own."""
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}\nme,,box.1,4,16,,0,,,250,,,2026-01-01,my own list\n")
    mine = Catalog.load(path)
    (box,) = mine.instance_types
    assert (box.memory_bytes, box.disk_bytes_per_second, box.usd_per_hour, box.gpu) == (16 * GIB, 250 * MB, None, None)
    assert mine.disks == Catalog.load().disks


def test_the_page_names_every_column_of_a_catalogue() -> None:
    page = (ROOT / "docs" / "instances.md").read_text("utf-8")
    names = {name for needed in own.NEEDED.values() for name in needed}
    assert [name for name in (*names, *own.ALSO_CALLED) if f"`{name}`" not in page] == []


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
            "provider, instance_type, vcpus, memory_gib, as_of and source.",
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
        importing.read([path])


def test_a_disk_without_a_largest_size_names_its_smallest() -> None:
    """There is no range to name where nothing is too large."""
    offer = replace(Catalog.load().disk("alibaba/cloud_ssd"), max_bytes=None)
    with pytest.raises(InputError) as refused:
        offer.rates(10 * GIB)
    assert in_words(refused.value) == ("alibaba/cloud_ssd is not sold with 10 GiB; give a size of 20 GiB or more.")
    assert offer.rates(20 * GIB).read_iops is not None
