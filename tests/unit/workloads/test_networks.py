"""Networks of both frameworks, language models, and the words of a text."""

from __future__ import annotations

import json
import math
import os
import re
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sizer.records.kinds import BATCH_SIZES, DIFFERENCES, TRANSFORMERS
from sizer.study.json_schema import schema
from tests import ROOT
from workloads import language_training, networks
from workloads.backends import mxnet_library
from workloads.backends.interface import (
    FORWARD,
    FORWARD_BACKWARD,
    TRAIN,
    LanguageModelForm,
    Settings,
    TransformerForm,
    open_backend,
)
from workloads.data_sets.text_words import find_text, read_words, vocabulary, word_batches
from workloads.faults import InputFault
from workloads.networks import NETWORKS, sample_form

# The networks of both frameworks: how many numbers each learns, and what comes out of them.


WITHOUT_PYTORCH = "PyTorch is an extra: pip install .[pytorch]"

PARAMETERS = {
    # torchvision's documentation of its weights (num_params), which are those of the papers' networks.
    "alexnet": 61_100_840,
    "googlenet": 6_624_904,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "resnet101": 44_549_160,
    "resnet152": 60_192_808,
    "squeezenet": 1_235_496,
    "vgg16": 138_357_544,
    # torchvision's 27,161,264 without the auxiliary head of 3,326,696.
    "inception_v3": 23_834_568,
    # Howard et al. 2017, table 8: 4.2 millions. Keras's 4,253,864 without 21,888 moving means and variances.
    "mobilenet": 4_231_976,
    # Sermanet et al. 2013, table 1 and 4: 145 millions.
    "overfeat": 145_920_872,
    # He et al. 2015, table 6: 0.85 millions, and 2,752 of two projections by 1x1.
    "resnet56": 855_770,
    # dlbench, symbol_fcn5.py: 26,752 - 2,048 - 2,048 - 2,048 - 26,752; "about 118 millions".
    "fcn5": 2 * 26_752 * 2048 + 2 * 2048 * 2048 + 3 * 2048 + 26_752,
}


@pytest.fixture(scope="module")
def mx() -> Any:
    """MXNet, which takes seconds to import: not where tests are collected, which every worker does."""
    return mxnet_library.load()


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason=WITHOUT_PYTORCH)


@pytest.mark.parametrize("network", NETWORKS)
def test_pytorchs_networks_have_the_published_parameters(torch: Any, network: str) -> None:
    """Each count has its source, and each network gives a score for each class."""
    definitions = import_module("workloads.backends.pytorch_networks")
    shape, classes = sample_form(network)
    with torch.device("meta"):
        model = definitions.BUILDERS[network]().eval()
        assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS[network]
        assert model(torch.zeros(2, *shape)).shape == (2, classes)


@pytest.mark.parametrize("network", NETWORKS)
def test_mxnets_networks_have_the_same_but_where_it_is_said(mx: Any, network: str) -> None:
    """The parameters of the differences are those that the page tells."""
    model = import_module("workloads.backends.mxnet_networks").build(network)
    shape, _ = sample_form(network)
    model.infer_shape(mx.nd.zeros((1, *shape)))
    count = sum(math.prod(param.shape) for param in model.collect_params().values() if param.grad_req != "null")
    parameters = {"mxnet": PARAMETERS[network], "pytorch": PARAMETERS[network]}
    parameters |= DIFFERENCES[network].parameters if network in DIFFERENCES else {}
    assert (count, PARAMETERS[network]) == (parameters["mxnet"], parameters["pytorch"])


def test_the_documentation_has_every_count() -> None:
    """A row for each network, with the count of MXNet's and, where it differs, of PyTorch's."""
    text = (ROOT / "docs/frameworks.md").read_text()
    for network, count in PARAMETERS.items():
        (row,) = re.findall(rf"^\| `{network}` \|.*$", text, re.MULTILINE)
        assert f" {count:,} " in row
        if network in DIFFERENCES:
            assert f" {DIFFERENCES[network].parameters['mxnet']:,} " in row


def test_sizer_and_its_workloads_agree_on_what_takes_vectors() -> None:
    """The two know nothing of each other."""
    rules = schema()["$defs"]
    assert {*rules["takes_vectors"]["enum"]} == networks.TAKES_VECTORS
    assert {*rules["in_pytorch_alone"]["enum"]} == TRANSFORMERS


@pytest.mark.parametrize("framework", ["mxnet", "pytorch"])
@pytest.mark.parametrize("network", ["squeezenet", "resnet56"])
def test_the_same_seed_gives_the_same_loss(framework: str, network: str) -> None:
    """Weights, input and dropout follow the seed; another one gives another loss."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason=WITHOUT_PYTORCH)

    def losses(seed: int) -> list[float]:
        backend = open_backend(framework, Settings("cpu", 1, seed, 2))
        batch, compute = backend.synthetic_samples(network), backend.image_training(network)
        return [float(compute(batch).item() if framework == "pytorch" else compute(batch).asscalar()) for _ in range(2)]

    first = losses(7)
    assert losses(7) == pytest.approx(first, rel=1e-4)
    assert losses(8) != pytest.approx(first, rel=1e-4)


FRAMEWORKS = pytest.mark.parametrize("framework", ["mxnet", "pytorch"])


def _figure(loss: object) -> float:
    return float(getattr(loss, "asscalar", getattr(loss, "item", None))())  # type: ignore[misc]


@FRAMEWORKS
def test_gradients_alone_change_no_parameter(framework: str) -> None:
    """The same batch gives the same loss again, until its gradients are applied."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason=WITHOUT_PYTORCH)
    backend = open_backend(framework, Settings("cpu", 1, 7, 2))
    batch = backend.synthetic_samples("resnet18")
    for updates in (False, True):
        compute = backend.image_training("resnet18", updates=updates)
        first, second = (_figure(compute(batch)) for _ in range(2))
        assert (second == pytest.approx(first, rel=1e-4)) is not updates


@FRAMEWORKS
def test_a_language_model_learns_only_when_it_is_trained(framework: str) -> None:
    """Its state is carried over in every mode; what it says of the same words is better after updates alone."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason=WITHOUT_PYTORCH)
    numpy = import_module("numpy")
    words = numpy.random.default_rng(1).integers(0, 50, (4, 9), dtype=numpy.int32)
    form = LanguageModelForm(2, 16, 8, 0.0, 0.1, 5.0, 50)
    backend = open_backend(framework, Settings("cpu", 1, 3, 4))
    for mode in (FORWARD, FORWARD_BACKWARD, TRAIN):
        compute = backend.language_training(form, mode)
        losses = [_figure(compute((words[:, :-1], words[:, 1:]))) for _ in range(6)]
        assert (losses[-1] < 0.9 * losses[0]) is (mode == TRAIN)
        assert losses[-1] == pytest.approx(losses[0], rel=0.02) or mode == TRAIN


@pytest.fixture(scope="module")
def mxnet_networks(mx: Any) -> Any:  # noqa: ARG001
    return import_module("workloads.backends.mxnet_networks")


def operators(model: Any) -> set[str]:
    """Those of the graph that the model ran last."""
    return {node["op"] for node in json.loads(model._cached_graph[1].tojson())["nodes"]}


@pytest.mark.parametrize("network", ["squeezenet", "mobilenet"])
def test_inference_runs_fused_operators_and_answers_as_without(mx: Any, mxnet_networks: Any, network: str) -> None:
    """As MXNet's own scoring does: no convolution or activation is left by itself, and the classes score alike."""
    model = mxnet_networks.compiled(network, mx.cpu(), inference_only=True)
    images = mx.nd.random.uniform(-2, 2, (1, 3, 224, 224))
    fused = model(images).asnumpy()
    assert not operators(model) & {"Convolution", "BatchNorm", "Activation"}
    model.hybridize()
    alone = model(images).asnumpy()
    assert "Convolution" in operators(model)
    assert fused == pytest.approx(alone, rel=1e-4, abs=1e-4 * float(abs(alone).max()))


# Networks of the package `transformers`: how many numbers each learns, and what its steps compute.


COUNTED_PARAMETERS = {
    # torchvision's documentation of its weights (num_params).
    "vit_b16": 86_567_656,
    "convnext_tiny": 28_589_128,
    # The 110,106,428 of bert-base-uncased as it was published, without what tells next sentences: the pooler
    # (768 x 768 + 768) and its head (2 x 768 + 2).
    "bert_base": 110_106_428 - (768 * 768 + 768) - (2 * 768 + 2),
    # nanoGPT's train.py: 124M, of which the words' and places' embeddings are 50,257 x 768 and 1,024 x 768; its scores
    # take the embedding of words again.
    "gpt2_small": 50_257 * 768 + 1024 * 768 + 12 * (12 * 768**2 + 13 * 768) + 2 * 768,
}


@pytest.fixture(scope="module")
def made() -> Any:
    """Where the networks are made, which says how transformers is to be imported; it takes seconds."""
    if not all(map(find_spec, ("torch", "transformers"))):
        pytest.skip("transformers is an extra: pip install .[transformers]")
    return import_module("workloads.backends.pytorch_transformers")


@pytest.fixture
def small(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two language models with one narrow layer and 50 words, without dropout."""
    transformers = import_module("transformers")
    size = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    bert = transformers.BertConfig(**size, intermediate_size=32, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    gpt2 = transformers.GPT2Config(
        vocab_size=50, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
    )
    monkeypatch.setitem(made.BUILDERS, "bert_base", lambda: transformers.BertForMaskedLM(bert))
    monkeypatch.setitem(made.BUILDERS, "gpt2_small", lambda: transformers.GPT2LMHeadModel(gpt2))
    monkeypatch.setattr(made, "LEARNING_RATE", 0.01)


@pytest.fixture
def shallow(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer of each network that has a dozen; programs run them whole (`test_programs.py`)."""
    for name in ("ViTConfig", "BertConfig", "GPT2Config"):
        monkeypatch.setattr(made.transformers, name, partial(getattr(made.transformers, name), num_hidden_layers=1))


@pytest.mark.parametrize("network", COUNTED_PARAMETERS)
def test_each_has_the_published_parameters(made: Any, network: str) -> None:
    """Each count has its source; the weights that GPT-2 and BERT use twice are counted once."""
    torch = import_module("torch")
    with torch.device("meta"):
        model = made.Scores(network).eval()
        assert sum(parameter.numel() for parameter in model.parameters()) == COUNTED_PARAMETERS[network]
        if network in networks.IMAGE_TRANSFORMERS:
            assert model(torch.zeros(2, 3, 224, 224)).shape == (2, 1000)


def test_the_documentation_has_the_counts_of_transformers() -> None:
    """A row for each network."""
    text = (ROOT / "docs/frameworks.md").read_text()
    for network, count in COUNTED_PARAMETERS.items():
        (row,) = re.findall(rf"^\| `{network}` \|.*$", text, re.MULTILINE)
        assert f" {count:,} " in row


def test_sizer_and_its_workloads_agree() -> None:
    """Which networks they are, and the batch sizes where nobody names one."""
    assert TRANSFORMERS == networks.TRANSFORMERS == COUNTED_PARAMETERS.keys()
    own = language_training.BATCH_SIZES
    assert {name: own[name] for name in BATCH_SIZES} == BATCH_SIZES
    assert language_training.TRANSFORMER_FORMS.keys() == BATCH_SIZES.keys()


@pytest.mark.usefixtures("made")
def test_nothing_is_asked_of_the_network() -> None:
    """transformers reads this when it is imported."""
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert import_module("huggingface_hub").constants.HF_HUB_OFFLINE


@pytest.mark.slow
@pytest.mark.usefixtures("shallow")
@pytest.mark.parametrize("network", COUNTED_PARAMETERS)
def test_the_same_seed_gives_a_transformer_the_same_loss(network: str) -> None:
    """Weights, input, masks and dropout follow it."""
    numpy = import_module("numpy")

    def loss() -> float:
        backend = open_backend("pytorch", Settings("cpu", 1, 7, 1))
        if network in networks.IMAGE_TRANSFORMERS:
            return float(backend.image_training(network)(backend.synthetic_samples(network)).item())
        words = numpy.random.default_rng(1).integers(0, 10_000, (1, 17), dtype=numpy.int32)
        form = TransformerForm(network, 16, 10_000, network == "bert_base")
        return float(backend.language_training(form)((words[:, :-1], words[:, 1:])).item())

    first = loss()
    # Chance is the logarithm of what is chosen from.
    choices = {"bert_base": 30_522, "gpt2_small": 50_257}.get(network, 1000)
    assert first == pytest.approx(math.log(choices), rel=0.15)
    assert loss() == pytest.approx(first, rel=1e-4)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("network", ["bert_base", "gpt2_small"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_transformer_learns_only_when_it_is_trained(network: str, precision: str) -> None:
    """What it says of the same words is better after updates alone, also in mixed precision."""
    numpy = import_module("numpy")
    computing = import_module("workloads.options").Computing(channels_last=None, precision=precision)
    words = numpy.random.default_rng(1).integers(0, 5, (8, 17), dtype=numpy.int32)
    form = TransformerForm(network, 16, 40, network == "bert_base")
    for mode in (FORWARD, FORWARD_BACKWARD, TRAIN):
        backend = open_backend("pytorch", Settings("cpu", 1, 3, 8, computing))
        compute = backend.language_training(form, mode)
        losses = [compute((words[:, :-1], words[:, 1:])).item() for _ in range(40)]
        assert losses[0] == pytest.approx(math.log(50), rel=0.1)
        assert (losses[-1] < 0.8 * losses[0]) is (mode == TRAIN)
        assert losses[-1] == pytest.approx(losses[0], rel=0.1) or mode == TRAIN


def test_words_are_masked_as_berts_are(made: Any) -> None:
    """15 % are to be told; of these 80 % are masked, 10 % another word and 10 % as they were; the others stay."""
    torch = import_module("torch")
    torch.manual_seed(1)
    words = torch.full((200, 1000), 7)
    changed, labels = made.masked(words, 1000)
    chosen = labels != made.IGNORED
    assert (labels[chosen] == 7).all()
    assert (changed[~chosen] == 7).all()
    assert float(chosen.float().mean()) == pytest.approx(0.15, abs=0.005)
    shares = [float((changed[chosen] == value).float().mean()) for value in (999, 7)]
    assert shares == pytest.approx([0.8, 0.1], abs=0.01)
    assert (made.masked(words[:, :1], 1000)[1] == 7).all(), "a sequence without a word to tell has no loss"


def test_an_epoch_covers_the_text_once(tmp_path: Path) -> None:
    """Pairs follow each other without gap or overlap."""
    text = tmp_path / "train.txt"
    text.write_text("a b c d e f g h i j\n")
    numbers = vocabulary(read_words(text), 12)
    pairs = [[part.tolist()[0] for part in pair] for pair in word_batches(text, numbers, batch_size=1, steps=4)]
    (first, first_next), (second, second_next) = pairs
    assert first_next == [*first[1:], second[0]]
    assert second_next[:3] == second[1:]


def test_the_vocabulary_keeps_the_commonest_and_unknown() -> None:
    """`<unk>` is a word even where the text has none."""
    assert set(vocabulary(list("aaabbcd"), 3)) == {"a", "b", "<unk>"}
    assert set(vocabulary(["<unk>", "<unk>", "a", "a", "b"], 2)) == {"<unk>", "a"}


@pytest.mark.parametrize(("content", "reason"), [(b"\xff\xfe", "no UTF-8"), (b"\n\n", "no words"), (b"", "no words")])
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    """Binary and empty files are refused in one sentence."""
    (tmp_path / "train.txt").write_bytes(content)
    with pytest.raises(InputFault, match=reason):
        read_words(tmp_path / "train.txt")


def test_a_folder_without_a_text_is_named(tmp_path: Path) -> None:
    """The sentence says which names were looked for."""
    with pytest.raises(InputFault, match=r"ptb\.train\.txt nor train\.txt"):
        find_text(tmp_path)
