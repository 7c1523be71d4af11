"""The disk under a real overlay, and a name made in a real pid namespace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sizer.limits.device import device_of
from sizer.limits.process_tree import is_of_this_world, is_owned, owner_is_dead

pytestmark = pytest.mark.root


def test_an_overlay_counts_as_the_disk_of_its_upper_layer(tmp_path: Path) -> None:
    """What a container's file system usually is."""
    expected = device_of(tmp_path)
    layers = {name: tmp_path / name for name in ("lower", "upper", "work", "merged")}
    for layer in layers.values():
        layer.mkdir()
    options = f"lowerdir={layers['lower']},upperdir={layers['upper']},workdir={layers['work']}"
    merged = str(layers["merged"])
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", options, merged], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no overlay can be mounted here: {mounted.stderr.strip()}")
    try:
        assert device_of(layers["merged"] / "new") == expected
    finally:
        subprocess.run(["umount", merged], check=True)


def test_another_pid_namespace_is_another_world() -> None:
    """A name made in a container says nothing outside of it."""
    code = "from sizer.limits.process_tree import owned_name; print(owned_name('run'))"
    argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    name = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    assert is_owned(name)
    assert not is_of_this_world(name)
    assert not owner_is_dead(name)
