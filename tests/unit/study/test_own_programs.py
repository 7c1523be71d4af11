"""How a study file says that a user's own program is started."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from sizer.files.codec import to_json
from sizer.records.errors import InputError
from sizer.records.own_programs import Variable, filled, placeholders_in
from sizer.records.study import Study
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]


def own(parse: Parse, keys: str) -> Study:
    """A study of a command with these keys."""
    return parse(f"workloads:\n  - kind: command\n    command: [python, train.py]\n{keys}", where="/home/me/study.yaml")


def test_everything_is_read_as_it_is_spelled(parse: Parse) -> None:
    """Numbers and truths are the words that they are written with; lines are split as a shell would, without one."""
    study = own(
        parse,
        """\
    env: {RATE: 0.10, FLAG: true, EMPTY: "", MINE: }
    pass_env: [HF_HOME, NCCL_*]
    cwd: work
    setup: pip install -e '.[all]'
    before: [rm, -rf, "{scratch}/out"]
""",
    )
    workload = study.workloads[0].workload
    assert workload.env == (
        Variable("RATE", "0.10"),
        Variable("FLAG", "true"),
        Variable("EMPTY", ""),
        Variable("MINE"),
    )
    assert workload.pass_env == ("HF_HOME", "NCCL_*")
    assert workload.cwd == "/home/me/work"
    assert workload.setup == ("pip", "install", "-e", ".[all]")
    assert workload.before == ("rm", "-rf", "{scratch}/out")
    assert own(parse, "    pass_env: HF_HOME\n").workloads[0].workload.pass_env == ("HF_HOME",)


@pytest.mark.parametrize("name", ["HF_TOKEN", "aws_secret_access_key", "API_KEY", "DbPassword", "GIT_CREDENTIALS"])
def test_a_secret_is_in_nothing_that_is_written(parse: Parse, name: str) -> None:
    """The run has it; what is written reads as the same study, and needs it from the environment."""
    study = own(parse, f"    env: {{{name}: abc-123, PLAIN: there}}\n")
    secret, plain = study.workloads[0].workload.env
    assert secret.value_in({}) == "abc-123"
    assert plain.value == "there"
    for text in (to_yaml(study), json.dumps(to_json(study)), repr(study)):
        assert "abc-123" not in text
        assert "there" in text
    again = parse(to_yaml(study))
    assert again == study
    assert again.workloads[0].workload.env[0].value_in({}) is None
    assert again.workloads[0].workload.env[0].value_in({name: "other"}) == "other"


def test_a_switch_is_no_secret(parse: Parse) -> None:
    """TOKENIZERS_PARALLELISM is a name like that of a token."""
    (variable,) = own(parse, "    env: {TOKENIZERS_PARALLELISM: false}\n").workloads[0].workload.env
    assert variable.value == "false"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_TOKENS", "512"),
        ("MAX_KEYS", "1000000"),
        ("tokens_per_batch", "4096"),
        ("KEY_SIZE", "256"),
        ("NUM_KEY_VALUE_HEADS", "8"),
    ],
)
def test_how_many_there_are_is_no_secret(name: str, value: str) -> None:
    """A small number under a name that counts something."""
    assert Variable(name, value).value == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PASSWORD", "1234"),
        ("MAX_PASSWORD", "12345678"),
        ("PASSWORD_LENGTH_PIN", "12345678"),
        ("API_KEY", "123456789"),
        ("API_KEYS", "12345678"),
        ("ACCESS_TOKENS", "12345678"),
        ("TOKEN", "123456"),
        ("SECRET_KEYS", "4711"),
        ("CARD_PIN_KEYS", "4711"),
        ("MAX_TOKENS", "1234567890"),
        ("MAX_TOKENS", "512k"),
        ("HF_TOKENS", "hf_abc"),
    ],
)
def test_a_number_may_be_a_secret(name: str, value: str) -> None:
    """A PIN is one, and so is what is longer than any count, or no number."""
    variable = Variable(name, value)
    assert variable.value is None
    assert variable.value_in({}) == value
    assert value not in repr(variable).replace(name, "")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            "    batch_size: [8, 16]\n",
            "line 4: the command is not told which of the batch sizes to use; write {batch_size} among its words or in "
            "`env`, or give one batch size.",
        ),
        (
            '    before: [cp, "{data}", .]\n',
            "line 2: {data} is used, and the workload has no `data`; write where it lies.",
        ),
        (
            "    setup: make {batch_size}\n",
            "line 4: `setup` is run once for all runs, so it has no {batch_size}; use it in `before`, or remove it.",
        ),
        ('    before: [a, "{Batch-Size}"]\n', "line 2: `{Batch-Size}` is not a placeholder; write {batch_size}."),
        ("    env: {SIZER_GROUP: x}\n", "`SIZER_GROUP` must be a name of letters, digits and `_` that does not begin"),
        ("    env: {A-B: x}\n", "`A-B` must be a name of letters, digits and `_`"),
        ("    env: {API_KEY: [hush]}\n", "`API_KEY` in `env` must be text, a number, true or false"),
        ("    env: {API_KEY: .nan}\n", "line 4: the value is not a finite number; write another value."),
        ("    pass_env: [A-B]\n", "a value of `pass_env` must be the name of a variable, in which * stands for any"),
        ("    before: ''\n", "`before` in a workload must be a line or a list of words"),
        ("    before: 'a \"b'\n", "`before` cannot be split into words (No closing quotation); write it as a list."),
        ("    cwd: 3\n", "`cwd` in a workload must be the path of the folder that the command starts in, not `3`."),
    ],
)
def test_what_makes_no_sense_is_said(parse: Parse, keys: str, said: str) -> None:
    """In one sentence with its line, and never with a value of `env`."""
    with pytest.raises(InputError) as refused:
        own(parse, keys)
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_too_long_a_value_is_not_shown(parse: Parse) -> None:
    """A private key may be long."""
    with pytest.raises(InputError) as refused:
        own(parse, f"    env: {{API_KEY: {'hush' * 10_000}}}\n")
    assert "hush" not in str(refused.value)


def test_only_a_command_has_them(parse: Parse) -> None:
    """What sizer brings is started as it must be."""
    for key in ("env: {A: b}", "pass_env: A", "cwd: /work", "setup: make", "before: make"):
        with pytest.raises(InputError, match="belongs to a workload of kind command only"):
            parse(f"workloads:\n  - {{kind: lstm_training, {key}}}\n")


def test_a_batch_size_may_be_told_anywhere(parse: Parse) -> None:
    """Among the words, or in a variable."""
    for keys in ("    env: {BATCH: '{batch_size}'}\n", "    before: [write, '--batch={batch_size}']\n"):
        assert own(parse, f"    batch_size: [8, 16]\n{keys}").workloads[0].batch_size == (8, 16)


def test_only_placeholders_are_filled_in() -> None:
    """Programs have braces of their own; doubled ones are the word itself."""
    values = {"vcpus": "2", "data": "{vcpus}"}
    assert filled("{vcpus} {data} {{data}} {x} {} ${vcpus} {'vcpus': 1}", values) == (
        "2 {vcpus} {data} {x} {} $2 {'vcpus': 1}"
    )
    assert placeholders_in(["{vcpus}", "{{data}} {x}"]) == {"vcpus"}
