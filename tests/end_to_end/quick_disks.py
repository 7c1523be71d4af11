"""`sizer` with checks of disks that take 0.2 s a figure, for tests in which a disk has some speed, whatever it is."""

import sys

from sizer.api import this_host
from sizer.cli import main
from sizer.storage import Fio

if __name__ == "__main__":
    assert this_host.__defaults__ == (Fio(),)
    this_host.__defaults__ = (Fio(seconds=0.2),)
    sys.exit(main())
