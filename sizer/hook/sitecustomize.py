"""Run by every Python that a measured command starts: its folder is first on PYTHONPATH. Then the user's own is run."""

import sys

HERE = __file__.rpartition("/")[0]

try:
    import sizer_finder

    sizer_finder.install(HERE)
except Exception:
    # A program that is measured runs as one that is not; its log is read instead.
    pass


def _run_the_one_behind() -> None:
    """Import the next `sitecustomize` on the path, which this one hides; what it raises, `site` reports as ever."""
    ours = sys.modules.pop("sitecustomize")
    sys.path[:] = [entry for entry in sys.path if entry != HERE]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        # `site` looks there for what it has imported.
        sys.modules.setdefault("sitecustomize", ours)


_run_the_one_behind()
