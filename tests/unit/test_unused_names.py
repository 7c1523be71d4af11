"""No module defines a name that nothing uses."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests import ROOT

USERS = ("sizer", "reports", "workloads", "benchmarks")


def defined(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Each function, class and constant of a module that other modules may use, but for `__all__`, which only lists."""
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        yield from ((name, node) for name in names if not name.startswith("_"))


def used(tree: ast.AST) -> Counter[str]:
    """How often each name is read, by itself or as that of something."""
    nodes = list(ast.walk(tree))
    read = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return Counter([*read, *(node.attr for node in nodes if isinstance(node, ast.Attribute))])


def test_every_name_of_a_module_is_used() -> None:
    """Outside of its own definition, by a module, a template or a benchmark; a use by tests alone is none."""
    trees = {
        path: ast.parse(path.read_text("utf-8"))
        for folder in USERS
        for path in (ROOT / folder).rglob("*.py")
        if "bundled" not in path.relative_to(ROOT).parts[:-1]
    }
    # Commands name their functions in text, to import them late.
    texts = [*(ROOT / "reports" / "templates").glob("*.html"), ROOT / "sizer" / "cli" / "arguments.py"]
    named = [word for path in texts for word in re.findall(r"\w+", path.read_text("utf-8"))]
    here = {path: used(tree) for path, tree in trees.items()}
    total = sum(here.values(), Counter(named))
    ours = {path: tree for path, tree in trees.items() if path.relative_to(ROOT).parts[0] != "benchmarks"}
    names = [(path, name, node) for path, tree in ours.items() for name, node in defined(tree)]
    assert len(names) > 1000
    alone = [(path, name, node) for path, name, node in names if total[name] == here[path][name]]
    assert [f"{path}: {name}" for path, name, node in alone if total[name] <= used(node)[name]] == []
