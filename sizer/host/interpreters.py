"""The Python that the programs of a framework run on: where it is, what it has, and what it lacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sizer.host.asking import ask
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.kinds import TRANSFORMERS
from sizer.records.messages import AllOf, AnyOf, HostError, InputError, Message, typed_line
from sizer.records.study import FrameworkPython

LEAST_PYTHON = (3, 10)
"""The oldest that the programs in `workloads/` run on: they use `zip(strict=True)`."""


MAKES_NETWORKS, MAKES_NETWORKS_INSTALL = "transformers", "transformers>=5,<6"
"""The package, and the module of its name, that makes the networks called TRANSFORMERS; what pip is to install."""


@dataclass(frozen=True)
class Interpreter:
    """A Python and what was found in it: its version, those of packages by their names, and modules that can be
    imported. `version` is empty where it does not answer, and `trouble` says why."""

    path: Path
    version: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    trouble: str = ""


@dataclass(frozen=True)
class Lack:
    """Why programs cannot run on an interpreter, and the command that installs what it lacks; without one, only
    another interpreter helps."""

    problem: Message
    command: str | None = None

    @property
    def message(self) -> Message:
        """With what to type."""
        if self.command is None:
            return Message(
                "{problem}; name another interpreter in `frameworks` of the study file", problem=self.problem
            )
        return Message("{problem}; type: {command}", problem=self.problem, command=self.command)


def interpreter(framework: str | None, chosen: FrameworkPython | None = None) -> Path:
    """The one that a study chose, SIZER_MXNET_PYTHON and the like, or our own, as an absolute path, because programs
    start in other folders.

    Raises InputError with its line when what was chosen is not a program, HostError when what a variable says is not.
    """
    if chosen is not None:
        return _program_chosen(chosen)
    variable = _variable(framework)
    if variable is None:
        return Path(sys.executable)
    named = os.environ[variable]
    program = _program(named)
    if program is None:
        raise HostError(
            "{variable} is {chosen}, which is not a program; give the path of a Python interpreter.",
            variable=variable,
            chosen=named,
        )
    return program


def look_into(
    path: Path, packages: Sequence[str], modules: Sequence[str] = (), becoming: Sequence[str] = ()
) -> Interpreter:
    """What an interpreter says of itself; nothing of these packages and modules is imported.

    It is asked as a run is started: without the folders that PYTHONPATH names, and by `becoming` with the
    rights of its user.
    """
    try:
        shown = ask([str(path), "-c", _LOOK, json.dumps([[*packages], [*modules]])], becoming=becoming)
        shown.check_returncode()
        answer = json.loads(shown.stdout)
        return Interpreter(path, answer["python"], answer["packages"], frozenset(answer["modules"]))
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[-1]
        return Interpreter(path, trouble=last[-200:])
    except (OSError, subprocess.SubprocessError) as error:
        return Interpreter(path, trouble=str(error))
    except (ValueError, KeyError, TypeError):
        return Interpreter(path, trouble="it prints something else than it was asked for")


def what_it_lacks(framework: str, python: Interpreter, networks: Collection[str] = ()) -> Lack | None:
    """Why the programs of a framework cannot run these networks on an interpreter; None where nothing is known against
    it."""
    needed = FRAMEWORKS[framework]
    if not python.version:
        return Lack(
            Message(
                "{python} does not answer as a Python interpreter does ({trouble})",
                python=python.path,
                trouble=python.trouble,
            )
        )
    if _numbers(python.version) < LEAST_PYTHON:
        return Lack(_too_old(python, "Python", python.version, LEAST_PYTHON))
    command = install_command(framework, python.path)
    missing = [package for module, package in needed.modules.items() if module not in python.modules]
    if missing:
        return Lack(Message("{python} has no {packages}", python=python.path, packages=AnyOf(*missing)), command)
    version = python.packages.get(needed.package, "")
    if needed.least and version and _numbers(version) < needed.least:
        return Lack(_too_old(python, needed.package, version, needed.least), command)
    made = sorted(TRANSFORMERS.intersection(networks))
    if made and MAKES_NETWORKS not in python.modules:
        problem = Message(
            "{python} has no {package}, which makes {networks}",
            python=python.path,
            package=MAKES_NETWORKS,
            networks=AllOf(*made),
        )
        return Lack(problem, typed_line([*_pip(python.path), MAKES_NETWORKS_INSTALL]))
    return None


def install_command(framework: str, python: Path, *others: str) -> str:
    """What installs a framework into an interpreter, and other packages with it."""
    return typed_line([*_pip(python), *FRAMEWORKS[framework].install, *others])


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "install"]


def _too_old(python: Interpreter, what: str, version: str, least: tuple[int, ...]) -> Message:
    return Message(
        "{python} has {what} {version}, and sizer's programs need {least} or newer",
        python=python.path,
        what=what,
        version=version,
        least=".".join(map(str, least)),
    )


def examined(framework: str, path: Path, becoming: Sequence[str] = ()) -> Interpreter:
    """An interpreter, asked for what the programs of a framework need, as `look_into` does."""
    needed = FRAMEWORKS[framework]
    return look_into(path, [needed.package, MAKES_NETWORKS], [*needed.modules, MAKES_NETWORKS], becoming)


def wrong_interpreter(chosen: FrameworkPython, problem: Message) -> InputError:
    """An error at the line of the study file that names the interpreter of a framework."""
    return InputError(
        "{where} line {line}: `python` of `{framework}` in `frameworks`: {problem}.",
        where=chosen.file or "study",
        line=chosen.line,
        framework=chosen.framework,
        problem=problem,
    )


def _variable(framework: str | None) -> str | None:
    """The first variable that is set of those that say where the programs of a framework run."""
    if framework is None:
        return None
    beside = FRAMEWORKS[framework].installed_with if framework in FRAMEWORKS else None
    variables = [f"SIZER_{name.upper()}_PYTHON" for name in (framework, beside) if name]
    return next((variable for variable in variables if variable in os.environ), None)


def _program(named: str) -> Path | None:
    """A bare name is looked for as a shell does, and never in this folder, which may be somebody else's."""
    program = named if "/" in named else shutil.which(named)
    if not program or not os.access(program, os.X_OK) or Path(program).is_dir():
        return None
    return Path(os.path.abspath(program))


def _program_chosen(chosen: FrameworkPython) -> Path:
    program = _program(chosen.python)
    if program is not None:
        return program
    raise wrong_interpreter(chosen, _why_no_program(chosen.python))


def _why_no_program(named: str) -> Message:
    path, example = Path(named), "/opt/torch/bin/python"
    if "/" not in named:
        return Message(
            "{path} is not in PATH; give the path of a Python interpreter, such as {example}",
            path=named,
            example=example,
        )
    if path.is_dir():
        example = str(path / "bin/python")
        return Message("{path} is a folder; give the program in it, such as {example}", path=named, example=example)
    if not os.path.lexists(path):
        return Message(
            "{path} is not there; give the path of a Python interpreter, such as {example}", path=named, example=example
        )
    return Message(
        "{path} is not a program that can be started; give the path of a Python interpreter, such as {example}",
        path=named,
        example=example,
    )


def _numbers(version: str) -> tuple[int, ...]:
    """`2.13.0+cpu` as (2, 13, 0); what is no number ends it."""
    numbers = []
    for part in version.split("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


# An old Python must be able to say that it is one.
_LOOK = """
import json, platform, sys
packages, modules = json.loads(sys.argv[1])
found = {"python": platform.python_version(), "packages": {}, "modules": []}
try:
    from importlib import metadata, util
except ImportError:
    packages = modules = ()
for package in packages:
    try:
        found["packages"][package] = metadata.version(package)
    except metadata.PackageNotFoundError:
        pass
found["modules"] = [module for module in modules if util.find_spec(module) is not None]
print(json.dumps(found))
"""
