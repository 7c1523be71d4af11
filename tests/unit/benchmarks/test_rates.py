from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from overhead import printed_rate
from preprocessing_rate import Decoded, image_list, jpegs, link, marginal_rate

from sizer.records.messages import HostError
from workloads.events import Events
from workloads.progress import Extent, Progress
from workloads.stop import StopRequest


def test_the_rate_that_a_program_prints_at_its_end_is_found() -> None:
    """The closing line of the workloads' own account is read, whatever is before it."""
    log = io.StringIO()
    with redirect_stdout(log):
        progress = Progress("lstm_training small", "word", Events(None), StopRequest(), Extent())
        progress.start(0, 0, 20)
        progress.step(700, 0.0, 0)
        progress.step(700, 0.0, 0)
        progress.end()
    closing = log.getvalue().splitlines()[-1]
    assert f"{printed_rate('step 1: 5 words/s' + chr(10) + closing):.4g} words/s" in closing


@pytest.mark.parametrize("log", ["", "\n", "killed", "step 12: 181.2 images/s"])
def test_a_program_without_a_closing_line_has_no_rate(log: str) -> None:
    """A rate on the way is not the one at the end."""
    with pytest.raises(HostError, match="no rate"):
        printed_rate(log)


def test_only_the_images_that_a_longer_run_has_more_count() -> None:
    """800 images more in 2 core-seconds more: starting up is in neither."""
    assert marginal_rate(800, few=3.0, many=5.0) == pytest.approx(400.0)


def test_a_longer_run_that_costs_nothing_is_no_rate() -> None:
    """It is said, where a division would give a rate without end."""
    with pytest.raises(HostError, match="run it again"):
        marginal_rate(800, few=3.0, many=3.0)


def test_a_decode_costs_the_share_of_the_core_that_it_had() -> None:
    """500 frames a second on half a core are a thousandth of a core-second each."""
    assert Decoded(frames_per_second=500.0, share=0.5).core_seconds == pytest.approx(0.001)


def test_links_make_a_larger_data_set_of_the_same_images(tmp_path: Path) -> None:
    """Each image is in its class as often as asked for, under names of its own, and reads as the image."""
    (tmp_path / "n0").mkdir()
    image = tmp_path / "n0" / "a.JPEG"
    image.write_bytes(b"pixels")
    link([image], tmp_path / "more", 3)
    found = jpegs(tmp_path / "more")
    assert [path.name for path in found] == ["0_a.JPEG", "1_a.JPEG", "2_a.JPEG"]
    assert {path.read_bytes() for path in found} == {b"pixels"}


def test_im2recs_list_numbers_each_record() -> None:
    """Number, label and path below the root, with tabs between."""
    root = Path("/data")
    assert image_list(root, [root / "n0" / "a.JPEG", root / "n1" / "b.JPEG"]) == ("0\t0\tn0/a.JPEG\n1\t0\tn1/b.JPEG\n")
