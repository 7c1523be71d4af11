"""MXNet's own loops with synthetic input, without anything of ours; each prints Speedometer's lines until it is killed.

    python benchmarks/cost/plain_mxnet.py inference --network squeezenet1.1 --batch-size 16 --frequent 4

Each does what a published program of MXNet 1.9.1 does (https://github.com/apache/mxnet, tag 1.9.1), in its order:
`inference` scores as example/image-classification/benchmark_score.py and benchmark/python/gluon/benchmark_gluon.py do,
`training` as example/image-classification/common/fit.py with `--benchmark 1`, and `lstm` as
example/gluon/word_language_model/train.py with `--hybridize --static-alloc`.
"""

from __future__ import annotations

import argparse
import itertools
import logging
from typing import Any

import numpy

# MXNet 1.9.1 reads numpy.bool when imported, which numpy 1.24 to 1.26 do not have (`hasattr` would warn).
if "bool" not in numpy.__dict__:
    numpy.bool = numpy.bool_  # type: ignore[misc,attr-defined,unused-ignore]

import mxnet as mx

SIDE = 224
CLASSES = 1000
VOCABULARY = 10_000
LAYERS, HIDDEN, WORDS_A_SEQUENCE, CLIP = 2, 200, 35, 5.0
"""The small model of Zaremba et al. 2014 with 35 steps, as `lstm_training --network small` runs it."""


class Synthetic(mx.io.DataIter):  # type: ignore[misc]
    """The same random batch for ever, as common/data.py's SyntheticDataIter."""

    def __init__(self, batch_size: int) -> None:
        super().__init__(batch_size)
        shape = (batch_size, 3, SIDE, SIDE)
        self.provide_data = [mx.io.DataDesc("data", shape)]
        self.provide_label = [mx.io.DataDesc("softmax_label", (batch_size,))]
        images = mx.nd.array(numpy.random.uniform(-1, 1, shape))
        labels = mx.nd.array(numpy.random.randint(0, CLASSES, (batch_size,)))
        self._batch = mx.io.DataBatch([images], [labels], pad=0)

    def next(self) -> Any:
        return self._batch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loop", choices=("inference", "training", "lstm"))
    parser.add_argument("--network", default="squeezenet1.1", help="a name of MXNet's model zoo")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--frequent", type=int, default=4, help="batches a printed line")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if given.loop == "inference":
        inference(given.network, given.batch_size, given.frequent)
    elif given.loop == "training":
        training(given.network, given.batch_size, given.frequent)
    else:
        lstm(given.batch_size, given.frequent)


def classifier(network: str) -> Any:
    """The network's graph with a softmax at its end."""
    return mx.sym.SoftmaxOutput(mx.gluon.model_zoo.vision.get_model(network)(mx.sym.var("data")), name="softmax")


def inference(network: str, batch_size: int, frequent: int) -> None:
    """Forward, then wait for the outputs."""
    module = mx.mod.Module(classifier(network), context=mx.cpu())
    module.bind(for_training=False, inputs_need_grad=False, data_shapes=[("data", (batch_size, 3, SIDE, SIDE))])
    module.init_params(mx.init.Xavier(magnitude=2.0))
    batch = mx.io.DataBatch([mx.random.uniform(-1.0, 1.0, shape=shape) for _, shape in module.data_shapes], [])
    meter = mx.callback.Speedometer(batch_size, frequent)
    for number in itertools.count(1):
        module.forward(batch, is_train=False)
        for output in module.get_outputs():
            output.wait_to_read()
        meter(mx.model.BatchEndParam(0, number, None, None))


def training(network: str, batch_size: int, frequent: int) -> None:
    """`Module.fit`: SGD with momentum, accuracy as its metric."""
    mx.mod.Module(classifier(network), context=mx.cpu()).fit(
        Synthetic(batch_size),
        num_epoch=1,
        eval_metric=["accuracy"],
        kvstore="device",
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.01, "momentum": 0.9, "wd": 1e-4, "multi_precision": True},
        initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        batch_end_callback=[mx.callback.Speedometer(batch_size, frequent)],
    )


class LanguageModel(mx.gluon.HybridBlock):  # type: ignore[misc]
    """word_language_model/model.py's RNNModel with an LSTM, untied and without dropout."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.encoder = mx.gluon.nn.Embedding(VOCABULARY, HIDDEN, weight_initializer=mx.init.Uniform(0.1))
            self.rnn = mx.gluon.rnn.LSTM(HIDDEN, LAYERS, input_size=HIDDEN)
            self.decoder = mx.gluon.nn.Dense(VOCABULARY, in_units=HIDDEN)

    def hybrid_forward(self, _functions: Any, words: Any, hidden: Any) -> Any:
        output, hidden = self.rnn(self.encoder(words), hidden)
        return self.decoder(output.reshape((-1, HIDDEN))), hidden


def lstm(batch_size: int, frequent: int) -> None:
    """Truncated back-propagation; a sample of the printed rate is a word."""
    model = LanguageModel()
    model.hybridize(static_alloc=True)
    model.initialize(mx.init.Xavier())
    trainer = mx.gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 1.0, "momentum": 0, "wd": 0})
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(static_alloc=True)
    words = mx.nd.array(numpy.random.randint(0, VOCABULARY, (batch_size, WORDS_A_SEQUENCE + 1)))
    hidden = model.rnn.begin_state(func=mx.nd.zeros, batch_size=batch_size)
    meter = mx.callback.Speedometer(batch_size * WORDS_A_SEQUENCE, frequent)
    for number in itertools.count(1):
        data, target = words[:, :-1].T, words[:, 1:].T.reshape((-1, 1))
        hidden = [part.detach() for part in hidden]
        with mx.autograd.record():
            output, hidden = model(data, hidden)
            loss = loss_of(output, target) / (WORDS_A_SEQUENCE * batch_size)
            loss.backward()
        mx.gluon.utils.clip_global_norm([each.grad() for each in model.collect_params().values()], CLIP)
        trainer.step(1)
        mx.nd.sum(loss).asscalar()
        meter(mx.model.BatchEndParam(0, number, None, None))


if __name__ == "__main__":
    main()
