"""Networks of the package `transformers`: how many numbers each learns, and what its steps compute."""

from __future__ import annotations

import math
import os
import re
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from sizer.records.kinds import BATCH_SIZES, TRANSFORMERS
from tests import ROOT
from workloads import language_training, networks
from workloads.backends.interface import FORWARD, FORWARD_BACKWARD, TRAIN, Settings, TransformerForm, open_backend

PARAMETERS = {
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


@pytest.mark.parametrize("network", PARAMETERS)
def test_each_has_the_published_parameters(made: Any, network: str) -> None:
    """Each count has its source; the weights that GPT-2 and BERT use twice are counted once."""
    torch = import_module("torch")
    with torch.device("meta"):
        model = made.Scores(network).eval()
        assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS[network]
        if network in networks.IMAGE_TRANSFORMERS:
            assert model(torch.zeros(2, 3, 224, 224)).shape == (2, 1000)


def test_the_documentation_has_every_count() -> None:
    """A row for each network."""
    text = (ROOT / "docs/frameworks.md").read_text()
    for network, count in PARAMETERS.items():
        (row,) = re.findall(rf"^\| `{network}` \|.*$", text, re.MULTILINE)
        assert f" {count:,} " in row


def test_sizer_and_its_workloads_agree() -> None:
    """Which networks they are, and the batch sizes where nobody names one."""
    assert TRANSFORMERS == networks.TRANSFORMERS == PARAMETERS.keys()
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
@pytest.mark.parametrize("network", PARAMETERS)
def test_the_same_seed_gives_the_same_loss(network: str) -> None:
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
def test_a_language_model_learns_only_when_it_is_trained(network: str, precision: str) -> None:
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
    changed, told = made.masked(words, 1000)
    chosen = told != made.IGNORED
    assert (told[chosen] == 7).all()
    assert (changed[~chosen] == 7).all()
    assert float(chosen.float().mean()) == pytest.approx(0.15, abs=0.005)
    shares = [float((changed[chosen] == value).float().mean()) for value in (999, 7)]
    assert shares == pytest.approx([0.8, 0.1], abs=0.01)
    assert (made.masked(words[:, :1], 1000)[1] == 7).all(), "a sequence without a word to tell has no loss"
