"""Price lists as others publish them: excerpts of real ones (tests/stored/price_lists), and rows in their form."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog, changes, types_where, with_added
from sizer.catalog.importing import read
from sizer.catalog.machines import InstanceType
from sizer.records.messages import InputError
from sizer.words.language import in_words
from sizer.words.terminal import change_line
from tests.tables import STORED

LISTS = STORED / "price_lists"


def types(path: Path) -> dict[tuple[str, str | None], InstanceType]:
    """By name and region."""
    return {(one.instance_type, one.region): one for one in Catalog.load(path).instance_types}


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_skypilot() -> None:
    """A row a region; a price that is not there is unknown, and its file has no day."""
    offers = types(LISTS / "verda" / "vms.csv")
    hopper, blackwell = offers["1H100.80S.32V", "FIN-02"], offers["8B200.240V", "FIN-03"]
    assert (hopper.provider, hopper.gpu, hopper.gpu_count, hopper.usd_per_hour) == ("verda", "H100", 1, 2.29)
    assert (hopper.as_of, hopper.vcpus, hopper.memory_bytes) == ("", 32, 185 * 2**30)
    assert (blackwell.usd_per_hour, blackwell.usd_per_hour_spot) == (None, 13.69)
    assert {("CPU.4V.16G", "FIN-01"), ("CPU.4V.16G", "FIN-03")} < set(offers)


def test_skypilot_of_older_versions() -> None:
    """5 to 7. A host of GCP with GPUs of its own stands there with the price of the host alone, which is none."""
    offers = {**types(LISTS / "lambda" / "vms.csv"), **types(LISTS / "nebius" / "vms.csv")}
    eight, hopper = offers["gpu_8x_v100", "us-east-1"], offers["gpu-h200-sxm_8gpu-128vcpu-1600gb", "eu-west1"]
    assert (eight.gpu, eight.gpu_count, eight.usd_per_hour, eight.vcpus) == ("V100", 8, 4.4, 92)
    assert (hopper.gpu, hopper.gpu_count, hopper.usd_per_hour) == ("H200", 8, 28.0)
    assert offers["cpu-d3_4vcpu-16gb", "eu-north1"].gpu is None
    google = types(LISTS / "gcp" / "vms.csv")
    ampere, spot = google["a2-highgpu-1g", "us-central1"], google["n4-highcpu-64", "asia-northeast2"]
    assert (ampere.gpu, ampere.gpu_count, ampere.usd_per_hour) == ("A100-40GB", 1, None)
    assert (spot.usd_per_hour, spot.usd_per_hour_spot) == (None, 1.31443)
    assert len(google) == 5


def test_real_excerpts_of_the_other_sources() -> None:
    """AWS's price list, ec2instances.info, Spare Cores; gpuhunt has parts of GPUs that are no GPU."""
    (small,) = types(LISTS / "aws_get_products.json").values()
    assert (small.name, small.usd_per_hour, small.as_of, small.vcpus) == ("aws m5.large", 0.096, "2020-07-09", 2)
    listed = types(LISTS / "ec2instances.json")
    assert listed["m1.small", "eu-west-1"].usd_per_hour == 0.047
    assert len(listed) == 4
    servers = {name: one for (name, _), one in types(LISTS / "spare_cores.json").items()}
    assert (servers["g4dn.xlarge"].gpu, servers["g4dn.xlarge"].gpu_count) == ("T4", 1)
    assert (servers["e2-small"].shared_cpu, servers["ecs.c7.large"].provider) == (1, "alibaba")
    hunted = {name: one for (name, _), one in types(LISTS / "vultr.csv").items()}
    assert not hunted["vcg-a100-1c-6g-4vram"].is_offered
    assert hunted["vcg-a100-12c-120g-80vram"].gpu_count == 1
    assert hunted["vbm-256c-2048gb-8-mi300x-gpu"].gpu_memory_bytes == 192 * 2**30


def test_karpenter_of_aws() -> None:
    """Shapes are those that sizer knows; prices in China are in CNY, and what is retired stays so."""
    offers = types(LISTS / "zz_generated.pricing_aws_cn.go")
    small = offers["g4dn.xlarge", "cn-north-1"]
    assert (small.price_per_hour, small.currency, small.as_of) == (5.223, "CNY", "2023-09-18")
    assert (small.vcpus, small.gpu, small.usd_per_hour) == (4, "T4", None)
    assert offers["p3.2xlarge", "cn-north-1"].retired == 2026


def test_prices_of_windows_in_azures_list_are_put_right() -> None:
    """Sizes of one series that are dearer by what Windows adds to a vCPU; what is no size of a machine is left out."""
    offers = types(LISTS / "zz_generated.pricing.go")
    series = {name: one for (name, _), one in offers.items() if name.startswith("Standard_D")}
    of_vcpu = [(one.usd_per_hour or 0.0) / one.vcpus for one in series.values()]
    assert of_vcpu == pytest.approx([0.054] * len(series))
    corrected = {name for name, one in series.items() if one.confidence}
    assert corrected == {"Standard_D8as_v5", "Standard_D16as_v5", "Standard_D32as_v5"}
    assert offers["Standard_E16s_v5", "australiacentral"].usd_per_hour == 1.208
    assert len(offers) == 7


def azure(folder: Path, **regions: str) -> dict[tuple[str, str | None], InstanceType]:
    """Types of a list with these prices by region."""
    maps = (f'Prices["{region}"] = map[string]float64{{\n{prices}\n}}' for region, prices in regions.items())
    return types(write(folder, "zz.go", "// Microsoft\nvar initialOnDemandPrices\n" + "\n".join(maps)))


def test_a_size_that_is_dearer_everywhere_is_not_of_windows(tmp_path: Path) -> None:
    """Of a size with fewer vCPUs the whole machine is paid."""
    eight, four = '"Standard_E8ads_v5": {},', '"Standard_E16-4ads_v5": {},'
    there = azure(tmp_path, eastus=f"{eight.format(0.524)}\n{four.format(1.784)}", westus=eight.format(0.6))
    assert there["Standard_E16-4ads_v5", "eastus"].usd_per_hour == 1.048
    dear = {
        region: f'"Standard_M64ms": {64 * usd},\\n"Standard_M128ms": {128 * (usd + 0.046)},'
        for region, usd in (("a", 0.1615), ("b", 0.2))
    }
    everywhere = azure(tmp_path, **dear)
    assert everywhere["Standard_M128ms", "a"].usd_per_hour == pytest.approx(26.56)


def test_karpenter_of_google_and_alibaba(tmp_path: Path) -> None:
    """Prices by region and type; Alibaba's are in CNY."""
    google = {"prices": {"us-central1": {"on_demand": {"c2d-highcpu-8": 0.3, "x": 1}, "spot": {"c2d-highcpu-8": 0.1}}}}
    ((key, one),) = types(write(tmp_path, "initial-prices.json", google)).items()
    assert (key, one.provider) == (("c2d-highcpu-8", "us-central1"), "gcp")
    assert (one.usd_per_hour, one.usd_per_hour_spot) == (0.3, 0.1)
    ((_, one),) = types(write(tmp_path, "on-demand.json", {"cn-hangzhou": {"ecs.g7.2xlarge": 2.03}})).items()
    assert (one.provider, one.price_per_hour, one.currency, one.usd_per_hour) == ("alibaba", 2.03, "CNY", None)


OFFER = {
    "attributes": {
        "instanceType": "c6i.large",
        "regionCode": "us-east-1",
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "vcpu": "2",
        "memory": "4 GiB",
    }
}
WINDOWS = {"attributes": {**OFFER["attributes"], "operatingSystem": "Windows"}}


def terms(price: str) -> dict[str, object]:
    return {"S.T": {"priceDimensions": {"S.T.D": {"unit": "Hrs", "pricePerUnit": {"USD": price}}}}}


@pytest.mark.parametrize(
    "content",
    [
        {
            "publicationDate": "2026-11-20T00:00:00Z",
            "products": {"A": OFFER, "B": WINDOWS},
            "terms": {"OnDemand": {"A": terms("0.0850000000"), "B": terms("0.1770000000")}},
        },
        {
            "PriceList": [
                json.dumps(
                    {"product": OFFER, "terms": {"OnDemand": terms("0.085")}, "publicationDate": "2026-11-20T0:0:0Z"}
                ),
                json.dumps({"product": WINDOWS, "terms": {"OnDemand": terms("0.177")}}),
            ]
        },
        json.dumps({"product": OFFER, "terms": {"OnDemand": terms("0.085")}, "publicationDate": "2026-11-20"})
        + "\n"
        + json.dumps({"product": WINDOWS, "terms": {"OnDemand": terms("0.177")}}),
    ],
    ids=["offer file", "get-products", "one after another"],
)
def test_awss_price_list(tmp_path: Path, content: object) -> None:
    """Linux on shared hardware alone."""
    ((key, one),) = types(write(tmp_path, "prices.json", content)).items()
    assert key == ("c6i.large", "us-east-1")
    assert (one.usd_per_hour, one.vcpus, one.as_of) == (0.085, 2, "2026-11-20")


def test_ec2instances_info(tmp_path: Path) -> None:
    """A type in each region with a price of Linux."""
    linux = {"linux": {"ondemand": "0.526", "spot_min": "0.2"}, "mswin": {"ondemand": "0.71"}}
    item = {"instance_type": "g4dn.xlarge", "vCPU": 4, "memory": 16.0, "GPU": 1, "GPU_model": "NVIDIA T4 Tensor Core"}
    listed = [{**item, "pricing": {"us-east-1": linux, "eu-west-1": {"mswin": {"ondemand": "0.8"}}}}]
    ((key, one),) = types(write(tmp_path, "instances.json", listed)).items()
    assert (key, one.usd_per_hour, one.usd_per_hour_spot) == (("g4dn.xlarge", "us-east-1"), 0.526, 0.2)
    assert Catalog.load(tmp_path / "instances.json").instances("T4") == (one,)


def test_gpuhunt(tmp_path: Path) -> None:
    """Prices on demand and of spare capacity stand in rows of their own."""
    header = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags"
    rows = "i1,us,0.5,30,240,1,A10,24.0,False,,nvidia,\ni1,us,0.2,30,240,1,A10,24.0,True,,nvidia,"
    ((_, one),) = types(write(tmp_path, "lambdalabs.csv", f"{header}\n{rows}\n")).items()
    assert (one.provider, one.usd_per_hour, one.usd_per_hour_spot, one.gpu) == ("lambdalabs", 0.5, 0.2, "A10")


def test_gpuhunts_hosts_with_a_choice_of_gpus(tmp_path: Path) -> None:
    """A host has one entry a choice, since all have one name."""
    header = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot"
    rows = "\n".join(f"n1-standard-8,us,{usd},8,30,{gpus},False" for usd, gpus in ((0.4, "0,,"), (1.1, "2,T4,16")))
    offers = types(write(tmp_path, "gcp.csv", f"{header}\n{rows}\n"))
    prices = {name: (one.usd_per_hour, one.gpu_count) for (name, _), one in offers.items()}
    assert prices == {"n1-standard-8": (0.4, 0), "n1-standard-8+2xT4": (1.1, 2)}


SERVER = {
    "vendor_id": "hcloud",
    "server_id": "104",
    "api_reference": "cx22",
    "vcpus": 2,
    "cpu_allocation": "SHARED",
    "cpu_architecture": "X86_64",
    "memory_amount": 4096,
    "gpu_count": 0,
    "gpu_model": None,
    "status": "ACTIVE",
}


def test_spare_cores(tmp_path: Path) -> None:
    """A server as JSON has a shape alone; the data base has prices by region."""
    ((_, shape),) = types(write(tmp_path, "104.json", SERVER)).items()
    assert (shape.provider, shape.memory_bytes, shape.shared_cpu, shape.price_per_hour) == ("hetzner", 2**32, 1, None)
    path = tmp_path / "sc-data-all.db"
    with sqlite3.connect(path) as database:
        database.execute(f"create table server ({', '.join(SERVER)})")
        database.execute(f"insert into server values ({', '.join('?' * len(SERVER))})", tuple(SERVER.values()))
        price = (
            "vendor_id, server_id, region_id, operating_system, allocation, unit, price, currency, status, observed_at"
        )
        database.execute(f"create table server_price ({price})")
        database.execute("create table region (vendor_id, region_id, api_reference)")
        database.execute("insert into region values ('hcloud', '2', 'fsn1')")
        for place, system, allocation, unit, price in (
            ("2", "linux", "ONDEMAND", "HOUR", 0.006),
            ("2", "Linux", "SPOT", "HOUR", 0.002),
            ("2", "Linux", "RESERVED", "HOUR", 0.001),
            ("2", "Linux", "ONDEMAND", "MONTH", 0.001),
            ("2", "Windows", "ONDEMAND", "HOUR", 0.001),
        ):
            row = ("hcloud", "104", place, system, allocation, unit, price, "EUR", "ACTIVE", "2026-01-31 10:00")
            database.execute("insert into server_price values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.close()
    ((key, one),) = types(path).items()
    assert (key, one.price_per_hour, one.currency, one.as_of) == (("cx22", "fsn1"), 0.006, "EUR", "2026-01-31")
    assert (one.spot_per_hour, one.shared_cpu) == (0.002, 1)
    served = {
        **SERVER,
        "api_reference": "new.1",
        "cpu_allocation": "Dedicated",
        "status": "active",
        "min_price_ondemand": 0.1,
    }
    ((_, one),) = types(write(tmp_path, "servers.json", [served])).items()
    assert (one.price_per_hour, one.shared_cpu, one.is_offered) == (0.1, 0, True)
    part = {**served, "gpu_model": "A10", "gpu_count": 1.0, "gpu_memory_min": 4096}
    ((_, one),) = types(write(tmp_path, "part.json", part)).items()
    assert not one.is_offered
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(InputError, match="no data base of Spare Cores"):
        Catalog.load(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([{**SERVER, "vcpus": "many"}], "item 1: vcpus: `many` is not a number"),
        ([SERVER, 7], "item 2 is no object"),
        ([7, {"product": {"attributes": {**OFFER["attributes"], "vcpu": "two"}}, "terms": {}}], "item 2: vcpu: `two`"),
        ([{"instance_type": "a", "vCPU": 2, "pricing": {"r": {"linux": "0.1"}}}], "item 1: linux is no object"),
        ({"products": {"A": None}, "terms": {"OnDemand": {}}}, "item 1 is no object"),
        ({"products": {"A": OFFER}, "terms": {"OnDemand": {"A": {"T": 1}}}}, "item 1 is no object"),
        ([{"instance_type": "a", "vCPU": "x", "pricing": {"r": {"linux": {"ondemand": "1"}}}}], "item 1: vCPU: `x`"),
    ],
)
def test_what_is_wrong_in_a_list_is_named_by_its_item(tmp_path: Path, content: object, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        Catalog.load(write(tmp_path, "list.json", content))
    assert sentence in in_words(refused.value)


def test_three_columns(tmp_path: Path) -> None:
    """A name that sizer knows has its shape; any other has vCPUs and a price. A bad cell is named by its line."""
    table = "machine,vCPUs,USD per hour\naws/c6i.large,2,0.08\nmy.box,8,0.2\n"
    listed, own = Catalog.load(write(tmp_path, "three.csv", table)).instance_types
    assert (listed.name, listed.memory_bytes, listed.usd_per_hour) == ("aws c6i.large", 2**32, 0.08)
    assert (own.name, own.vcpus, own.memory_bytes, own.usd_per_hour) == ("unknown my.box", 8, 0, 0.2)


@pytest.mark.parametrize(
    ("table", "price", "currency"),
    [
        ("vm,cores,price (EUR)\nmy.box,8,0.2\n", 0.2, "EUR"),
        ("\ufeffprice (€);cores;vm\r\n0.2;8;my.box\r\n", 0.2, "EUR"),
        ("vm\tsize\tRMB/h\nmy.box\t8\t0.2\n", 0.2, "CNY"),
        ("vm,vCPU,what we pay\nmy.box,8,$0.2\n", 0.2, "USD"),
        ("vm,cores,price\nmy.box,8,N/A\n", None, "USD"),
    ],
)
def test_three_columns_of_any_order_and_currency(
    tmp_path: Path, table: str, price: float | None, currency: str
) -> None:
    ((_, one),) = types(write(tmp_path, "three.csv", table)).items()
    assert (one.instance_type, one.vcpus, one.price_per_hour, one.currency) == ("my.box", 8, price, currency)


def test_a_type_that_is_retired_is_so_by_each_of_its_names(tmp_path: Path) -> None:
    """Whatever a table of three columns says it costs."""
    table = "price,vm,vcpus\n0.1,NC6s v3,6\n0.1,AWS/p3.2xlarge,8\n"
    nc, p3 = Catalog.load(write(tmp_path, "three.csv", table)).instance_types
    assert (nc.provider, nc.retired, p3.provider, p3.retired) == ("azure", 2025, "aws", 2026)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("vm,cores,price\nmy.box,8,cheap\n", "bad line 2: price: `cheap` is not a number"),
        ('vm,cores,price\nmy.box,8,"0,35"\n', "bad line 2: price: `0,35` is not a number"),
        ("vm,cores,price\nmy.box,8\n", "bad line 2: 2 cells, but the header has 3 columns"),
        ("\n\nvm,cores,price\na,8,1\nb,8,1,2\n", "bad line 5: 4 cells, but the header has 3 columns"),
        ("vm,cores,price\na,8,1\na,8,2\n", "bad line 3 has `a` again, as "),
        ("vm,cores,price a month\na,8,1\n", "`price a month` is no price an hour"),
        ("vm,cores,¥\na,8,1\n", "`¥` may be yuan or yen"),
        ('[{"instance_type": "a",\n"vCPU": }]', "bad line 2: this is no JSON"),
        ('{"a": 1}', "bad is JSON of a form that sizer does not read"),
        ("[]", "bad is JSON of a form that sizer does not read"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_its_line(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        Catalog.load(write(tmp_path, "bad", content))
    assert sentence in in_words(refused.value)


def test_what_is_imported_can_be_read_again(tmp_path: Path) -> None:
    """In sizer's own columns, with the day that was said."""
    offers = read([LISTS / "verda" / "vms.csv"], as_of="2026-11-26")
    again = Catalog.load(write(tmp_path, "mine.csv", offers.csv())).instance_types
    assert [(one.name, one.usd_per_hour, one.as_of) for one in again] == [
        (one.name, one.usd_per_hour, "2026-11-26") for one in Catalog.load(LISTS / "verda" / "vms.csv").instance_types
    ]


def test_what_was_added_and_what_changed(tmp_path: Path) -> None:
    """An entry of the same name and region takes the place of the one before."""
    before = write(tmp_path, "old.csv", "name,vcpus,price\naws/c6i.large,2,0.08\nmy.box,8,0.2\n")
    after = write(tmp_path, "new.csv", "name,vcpus,price\naws/c6i.large,2,0.07\nanother.box,8,0.3\n")
    both = with_added(read([before]), [read([after])])
    merged = Catalog.load(write(tmp_path, "both.csv", both.csv()))
    assert [one.usd_per_hour for one in merged.instance_types] == [0.07, 0.2, 0.3]
    lines = [change_line(one.before, one.after) for one in changes(Catalog.load(before), Catalog.load(after))]
    assert lines == [
        "aws c6i.large: $0.08 an hour, now $0.07 an hour",
        "unknown another.box: new, now $0.30 an hour",
        "unknown my.box: $0.20 an hour, now gone",
    ]
    cheaper = replace(Catalog.load().disk("aws/gp3"), usd_per_gib_month=0.07)
    (one,) = changes(Catalog.load(), replace(Catalog.load(), disks=(*Catalog.load().disks, cheaper)))
    assert change_line(one.before, one.after).endswith(
        "now ssd, up to 3,000 IOPS, up to 131 MB/s; $0.07 per GiB and month, second hand (infracost golden)"
    )


def test_a_type_in_several_regions_is_offered_where_it_costs_the_least(tmp_path: Path) -> None:
    """An answer names a type once, and the region of the price."""
    item = {"instance_type": "c6i.large", "vCPU": 2, "memory": 4, "arch": ["x86_64"]}
    prices = {name: {"linux": {"ondemand": usd}} for name, usd in (("a", "N/A"), ("b", "0.3"), ("c", "0.2"))}
    listed = [{**item, "pricing": {**prices, "cn-north-1": {"linux": {"ondemand": "0.1"}}}}]
    catalog = Catalog.load(write(tmp_path, "instances.json", listed))
    (one,) = catalog.offered
    assert (len(catalog.instance_types), one.region, one.usd_per_hour) == (4, "c", 0.2)
    assert [one.currency for one in catalog.instance_types] == ["USD", "USD", "USD", "CNY"]


def test_a_condition_on_columns() -> None:
    """In the order in which an answer takes them."""
    offers = types_where("gpu = 'L4' and vcpus >= 8 and gpu_count = 1")
    assert [one.name for one in offers][:2] == ["gcp g2-standard-8", "aws g6.2xlarge"]
    assert all(one.gpu == "L4" and one.vcpus >= 8 for one in offers)


@pytest.mark.parametrize(
    ("expression", "gpus"),
    [
        ("gpu = 'A100'", {("A100-40GB", 40), ("A100-80GB", 80)}),
        ("gpu = 'NVIDIA A100-SXM4-80GB'", {("A100-80GB", 80)}),
        ("'Tesla V100 32GB' = gpu", {("V100", 32), ("V100", 0)}),  # of some the memory is not known
        ("gpu = 'H100_80GB_SXM5' and provider = 'gcp'", {("H100", 80)}),
        ("gpu in ('v100-16gb', 'T4') and gpu_count = 1 and vcpus < 16", {("V100", 16), ("T4", 16), ("T4", 15)}),
    ],
)
def test_a_condition_knows_the_names_of_a_gpu(expression: str, gpus: set[tuple[str, int]]) -> None:
    """The models that are sold with two sizes are two."""
    offered = {(one.gpu, round((one.gpu_memory_bytes or 0) / 2**30)) for one in types_where(expression)}
    assert offered
    assert offered <= gpus
    assert {gpu for gpu, _ in offered} == {gpu for gpu, _ in gpus}


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("vcpus >", "syntax error"),
        ("speed > 1", "no such column: speed"),
        ("1)); delete from instances; select (rowid in (1", "syntax error"),
        ("load_extension('x')", "not authorized"),
        ("length(randomblob(1000000000)) > 1", "not authorized"),
        ("exists (with recursive n(i) as (select 1 union all select i + 1 from n) select 1 from n where i < 0)", ""),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(expression: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"cannot be asked .*{reason}"):
        types_where(expression)
    assert types_where("instance_type = 'c6i.large'")[0].vcpus == 2
