"""A small MXNet program that counts its own steps; its first word says how it trains."""

import sys

import numpy

if "bool" not in vars(numpy):
    # MXNet 1.9.1 reads numpy.bool when imported, which numpy 1.24 to 1.26 do not have.
    numpy.bool = numpy.bool_

import mxnet as mx
from mxnet import autograd, gluon

SAMPLES, BATCH, EPOCHS = 300, 32, 3


def main() -> None:
    way, workers = sys.argv[1], int(sys.argv[2])
    inputs, wanted = mx.nd.random.normal(shape=(SAMPLES, 10)), mx.nd.random.normal(shape=(SAMPLES, 1))
    steps = samples = 0
    if way == "gluon":
        data = gluon.data.ArrayDataset(inputs, wanted)
        train = gluon.data.DataLoader(data, BATCH, shuffle=True, num_workers=workers)
        valid = gluon.data.DataLoader(data, 100)
        network, loss_of = gluon.nn.Dense(1), gluon.loss.L2Loss()
        network.initialize()
        trainer = gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": 0.01})
        for _ in range(EPOCHS):
            for some, labels in train:
                with autograd.record():
                    loss = loss_of(network(some), labels)
                loss.backward()
                trainer.step(len(some))
                steps, samples = steps + 1, samples + len(some)
            for some, _ in valid:
                network(some).wait_to_read()
    else:
        train = mx.io.NDArrayIter(inputs, wanted, BATCH, last_batch_handle="discard", label_name="lin_label")
        valid = mx.io.NDArrayIter(inputs, wanted, 100, label_name="lin_label")
        output = mx.sym.LinearRegressionOutput(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1), mx.sym.Variable("lin_label")
        )
        counted = []
        module = mx.mod.Module(output, label_names=["lin_label"])
        module.fit(
            train,
            eval_data=valid,
            num_epoch=EPOCHS,
            batch_end_callback=lambda _: counted.append(BATCH),
            eval_metric="mse",
        )
        steps, samples = len(counted), sum(counted)
    print(f"counted {steps} {samples}")


if __name__ == "__main__":
    main()
