"""`sizer` with checks of disks that take 0.2 s a figure, for tests in which a disk has some speed, whatever it is."""

import sys

from sizer.api import this_host
from sizer.cli import main
from sizer.storage.disk_check import Fio


def quicken() -> None:
    """Check disks so from now on."""
    assert this_host.__defaults__ == (Fio(),)
    this_host.__defaults__ = (Fio(seconds=0.2),)


if __name__ == "__main__":
    quicken()
    sys.exit(main())
