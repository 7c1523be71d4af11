"""The word-level LSTM language model of Zaremba et al. 2014 (arXiv:1409.2329) in MXNet Gluon."""

from __future__ import annotations

from typing import Any

from . import mxnet_library
from .interface import FORWARD, FORWARD_BACKWARD, Compute, LanguageModelForm

mx = mxnet_library.load()
gluon = mx.gluon


def training(form: LanguageModelForm, batch_size: int, context: Any, mode: str) -> Compute:
    """A step of truncated back-propagation: state carried over, gradients clipped by their norm, SGD of rate 1.

    `forward_backward` ends with the gradients, `forward` with the loss.
    """
    words_in = gluon.nn.HybridSequential()
    words_in.add(gluon.nn.Embedding(form.vocabulary, form.hidden), gluon.nn.Dropout(form.dropout))
    recurrent = gluon.rnn.LSTM(form.hidden, form.layers, dropout=form.dropout, input_size=form.hidden)
    words_out = gluon.nn.HybridSequential()
    words_out.add(gluon.nn.Dropout(form.dropout), gluon.nn.Dense(form.vocabulary, in_units=form.hidden))
    # Operator by operator the loss alone costs a fifth of a small model's step: 10,000 words each at 700 places.
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for block in (words_in, recurrent, words_out, loss_of):
        block.initialize(mx.init.Uniform(form.initial_range), ctx=context)
        block.hybridize(static_alloc=True)
    parameters = [
        parameter for block in (words_in, recurrent, words_out) for parameter in block.collect_params().values()
    ]
    trainer = gluon.Trainer({p.name: p for p in parameters}, "sgd", {"learning_rate": 1.0}, kvstore=None)
    state = recurrent.begin_state(batch_size=batch_size, ctx=context)

    def loss_of_batch(batch: tuple[Any, Any]) -> Any:
        nonlocal state
        words, following = (mx.nd.array(part.T, ctx=context) for part in batch)
        state = [part.detach() for part in state]
        output, state = recurrent(words_in(words), state)
        # Steps and batch become one axis before the product with the vocabulary, which is then one of matrices.
        loss = loss_of(words_out(output.reshape((-1, form.hidden))), following.reshape((-1,)))
        # The paper's loss: summed over the words of a sequence, averaged over the batch.
        return loss.sum() / batch_size

    def compute(batch: tuple[Any, Any]) -> Any:
        if mode == FORWARD:
            loss = loss_of_batch(batch)
            loss.wait_to_read()
            return loss
        with mx.autograd.record():
            total = loss_of_batch(batch)
        total.backward()
        if mode == FORWARD_BACKWARD:
            mx.nd.waitall()
            return total
        gradients = [parameter.grad(context) for parameter in parameters]
        gluon.utils.clip_global_norm(gradients, form.clip_norm, check_isfinite=False)
        trainer.step(1)
        mx.nd.waitall()
        return total

    return compute
