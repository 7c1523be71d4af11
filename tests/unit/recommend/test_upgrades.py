"""What would move the bottleneck of an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.run import Demand, Run

Ask = Callable[..., Answer]
P100 = Device("emulated", gpu="P100", samples_per_second=219, source="published")


def trained(make_run: Callable[..., Run]) -> list[Run]:
    """At 2 vCPUs the CPU binds, at 4 the accelerator."""
    rates = {c: ((80 * c) ** -8 + 219**-8) ** (-1 / 8) for c in (1, 2, 4, 8)}
    return [make_run(rate, c, device=P100, demand=Demand(core_seconds=1 / 80)) for c, rate in rates.items()]


def test_the_smallest_upgrade_is_named_with_its_gain(make_run: Callable[..., Run], ask: Ask) -> None:
    """Where the target is lax, the answer says which next size something else would bind, and what it gains."""
    answer = ask(trained(make_run), target=0.6)
    assert (answer.spec.vcpus, answer.bottleneck) == (2, Bottleneck.CPU)
    assert (answer.upgrade.spec.vcpus, answer.upgrade.bottleneck) == (4, Bottleneck.ACCELERATOR)
    assert answer.upgrade.gain == pytest.approx(219 / 160 - 1, abs=0.05)
    assert answer.headroom == pytest.approx(219 / 160 - 1, abs=0.06)
    assert any(reason.startswith("Without that limit it would be 3") for reason in answer.reasons)
    (said,) = [reason for reason in answer.reasons if "smallest upgrade" in reason]
    assert "The smallest upgrade that moves the bottleneck is 4 vCPUs: 3" in said
    assert said.endswith("then bound by the emulated P100.")


def test_where_nothing_measured_moves_it_none_is_named(make_run: Callable[..., Run], ask: Ask) -> None:
    """The one accelerator measured binds, and no size relieves it."""
    answer = ask(trained(make_run))
    assert (answer.spec.vcpus, answer.bottleneck) == (4, Bottleneck.ACCELERATOR)
    assert answer.upgrade is None
    assert "smallest upgrade" not in " ".join(answer.reasons)
