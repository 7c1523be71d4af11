"""The tables of templates in a Python file, beside what Babel finds there by its keywords, for `script/words`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import IO, Any

from babel.messages.extract import extract_python


def extract(
    file: IO[bytes], keywords: Collection[str], comment_tags: Collection[str], options: dict[str, Any]
) -> Iterator[Any]:
    """What Babel's own extractor has, and each text in the values of what is annotated as `Templates`."""
    yield from extract_python(file, keywords, comment_tags, options)
    file.seek(0)
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).startswith("Templates["):
            yield from ((text.lineno, None, text.value, []) for text in _texts(node.value))


def _texts(value: ast.expr | None) -> Iterator[Any]:
    """Of a table, also one of groups or tables; its keys, and what calls are given, are no templates."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value
    parts: list[ast.expr] = []
    if isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, (ast.Tuple, ast.List)):
        parts = value.elts
    elif isinstance(value, ast.Call) and ast.unparse(value.func) == "dict.fromkeys":
        parts = value.args[1:]
    for part in parts:
        yield from _texts(part)
