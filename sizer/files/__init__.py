"""Files that are read and written safely: whole or not at all, and never through what a stranger put there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.files.codec import FormatError, from_json, load_json, to_json, write_json
    from sizer.files.data_paths import files_below, refuse_no_data, refuse_no_disk
    from sizer.files.given_files import read_given
    from sizer.files.own_folder import (
        Place,
        check_content,
        check_folder,
        check_own_cache,
        make_folder,
        open_folder,
        open_lock,
        place_of,
        read_file,
        user_name,
    )
    from sizer.files.tables import Row, Table, harmless, named, read_table
    from sizer.files.writing import ASIDE_SUFFIX, write_text, written_aside
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "ASIDE_SUFFIX",
    "FormatError",
    "Place",
    "Row",
    "Table",
    "check_content",
    "check_folder",
    "check_own_cache",
    "files_below",
    "from_json",
    "harmless",
    "load_json",
    "make_folder",
    "named",
    "open_folder",
    "open_lock",
    "place_of",
    "read_file",
    "read_given",
    "read_table",
    "refuse_no_data",
    "refuse_no_disk",
    "to_json",
    "user_name",
    "write_json",
    "write_text",
    "written_aside",
]
