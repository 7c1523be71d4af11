"""`python -m sizer` is the same as `sizer`."""

from sizer.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
