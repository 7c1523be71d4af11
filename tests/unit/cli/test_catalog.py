"""`sizer catalog list` and `diff`, as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.cli import main
from tests.unit.cli.test_compare import study

TABLE = (
    "provider,region,instance_type,vcpus,memory_gib,gpu,gpu_count,price_per_hour,status,as_of,source\n"
    "me,fra,box.1,4,16,A5000,1,0.5,previous-generation,2026-11-01,list\n"
    "me,lon,box.1,4,16,A5000,1,0.6,,2026-11-01,list\n"
)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["list", "FILE", "--provider", "ME", "--region", "FRA", "--gpu", "nvidia a5000"],
            0,
            "previous generation; $0.50",
        ),
        (["list", "FILE", "--region", "lon"], 0, "$0.60 an hour (lon, 2026-11-01, list)"),
        (["list", "FILE", "--provider", "em"], 2, "No instance type has the provider `em`; did you mean `me`?"),
        (["list", "FILE", "--gpu", "T4"], 0, "no instance type fits"),
        (["list", "FILE", "--gpu", "A5"], 2, "The catalogue knows no GPU `A5`"),
        (["query", "vcpus > 4", "FILE"], 0, "no instance type fits"),
        (["diff", "FILE", "FILE"], 0, "nothing changed"),
    ],
)
def test_what_is_asked_of_the_catalogue_is_answered(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names in any case; where nothing fits it is said, and a name that nobody knows is refused."""
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    assert main(["catalog", *(str(path) if word == "FILE" else word for word in words)]) == code
    assert said in "".join(capsys.readouterr())


def test_a_price_list_of_one_foreign_currency_ranks_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes, too, which no table says the price of; and the answer says how to convert."""
    folder = study(tmp_path, "sizes", "workload,vcpus,throughput\njob,2,100\njob,4,195\njob,8,198\n")
    prices = tmp_path / "cny.csv"
    prices.write_text("vm,vcpus,CNY an hour\na,2,1\nb,4,2\nc,8,4\n")
    assert main(["recommend", folder, "--catalog", str(prices)]) == 0
    out = capsys.readouterr().out
    assert "4 vCPUs (unknown b): 195 samples/s, CNY 2.00 an hour" in out
    assert "`--rate CNY=" in out
    assert main(["recommend", folder, "--catalog", str(prices), "--rate", "CNY=0.5"]) == 0
    assert "4 vCPUs (unknown b): 195 samples/s, $1.00 an hour" in capsys.readouterr().out
