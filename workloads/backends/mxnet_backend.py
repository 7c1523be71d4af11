"""MXNet 1.9.1 behind the interface of backends: its image reader, and its training and inference of a batch."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..data_sets.data_set import DataSet
from ..data_sets.lmdb_images import Batch, LmdbBatches
from ..faults import InputFault, Unavailable
from ..networks import folded_labels, sample_form
from . import mxnet_language, mxnet_library, mxnet_networks, mxnet_record_fault
from .interface import TRAIN, Compute, Epochs, Input, LanguageModelForm, Settings, TransformerForm

mx = mxnet_library.load()

MEAN = {"mean_r": 123.68, "mean_g": 116.779, "mean_b": 103.939}
DEVIATION = {"std_r": 58.393, "std_g": 57.12, "std_b": 57.375}
"""ImageNet's, on the scale of 0 to 255."""
CROP_SHARE = 0.875
"""The crop's side over the image's shorter side: 224 of 256."""
BATCHES_AHEAD = 4


def open_backend(settings: Settings) -> MxnetBackend:
    """The backend. Raises Unavailable if the device is not there."""
    return MxnetBackend(settings, _context(settings.device))


def _context(device: str) -> Any:
    if device == "cpu":
        return mx.cpu()
    index = int(device.partition(":")[2])
    try:
        count = mx.context.num_gpus()
    except mx.base.MXNetError:
        count = 0
    if index >= count:
        raise Unavailable(
            f"MXNet {mx.__version__} finds {count} CUDA devices here, not {device}: use --device cpu or emulated"
        )
    return mx.gpu(index)


class MxnetBackend:
    """MXNet on one device."""

    def __init__(self, settings: Settings, context: Any) -> None:
        self.version: str = mx.__version__
        self.clock = None
        self.stated: dict[str, bool | int | str] = {}
        self._settings = settings
        self._device = context
        mx.random.seed(settings.seed)

    def images(self, data_set: DataSet, side: int, training: bool) -> Input:
        if data_set.format == "lmdb":
            own = self._settings
            return Epochs(LmdbBatches(data_set.files[0].parent, side, own.batch_size, training, own.seed).epoch)
        return RecordIOImages(data_set, side, training, self._settings)

    def synthetic_samples(self, network: str) -> Any:
        size = self._settings.batch_size
        shape, classes = sample_form(network)
        samples = mx.nd.random.uniform(-2, 2, (size, *shape), ctx=self._device)
        labels = mx.nd.random.randint(0, classes, (size,), ctx=self._device)
        return samples, labels.astype("float32")

    def image_training(self, network: str, updates: bool = True) -> Compute:
        model = mxnet_networks.compiled(network, self._device)
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        loss_of.hybridize(static_alloc=True, static_shape=True)
        rates = {"learning_rate": 0.01, "momentum": 0.9, "wd": 1e-4}
        trainer = mx.gluon.Trainer(model.collect_params(), "sgd", rates, kvstore=None)
        folded = folded_labels(network)

        def compute(batch: Any) -> Any:
            images, labels = self._placed(batch)
            labels = folded(labels)
            with mx.autograd.record():
                loss = loss_of(model(images), labels)
            loss.backward()
            if updates:
                trainer.step(self._settings.batch_size)
            mx.nd.waitall()
            return loss.mean()

        return compute

    def image_inference(self, network: str) -> Compute:
        model = mxnet_networks.compiled(network, self._device, inference_only=True)

        def compute(batch: Any) -> None:
            images, _ = self._placed(batch)
            model(images).wait_to_read()

        return compute

    def language_training(self, form: LanguageModelForm | TransformerForm, mode: str = TRAIN) -> Compute:
        if isinstance(form, TransformerForm):
            raise Unavailable(f"MXNet has no {form.network}: use --framework pytorch")
        return mxnet_language.training(form, self._settings.batch_size, self._device, mode)

    def _placed(self, batch: Any) -> tuple[Any, Any]:
        """Images and labels on the device; numpy arrays are taken over without a copy on the CPU."""
        if isinstance(batch, Batch):
            batch = (mx.nd.from_numpy(batch.images), mx.nd.from_numpy(batch.labels))
        images, labels = batch
        return images.as_in_context(self._device), labels.as_in_context(self._device)


class RecordIOImages:
    """MXNet's ImageRecordIter, which reads, decodes and augments ahead in threads of its own.

    With the index, `shuffle` draws a new order of all records each epoch and reads record by record; without it MXNet
    1.9.1 decodes chunks of 64 MB whole and mixes only within them (src/io/iter_image_recordio_2.cc), so the index is
    always given.
    `ctx="cpu"` lifts the cap of half the processors on its threads.
    """

    def __init__(self, data_set: DataSet, side: int, training: bool, settings: Settings) -> None:
        self._data_set = data_set
        mxnet_record_fault.tell_of_fatal_signals(
            partial(mxnet_record_fault.unreadable_record, data_set.files[0], data_set.index)
        )
        try:
            self._iterator = mx.io.ImageRecordIter(
                path_imgrec=str(data_set.files[0]),
                path_imgidx=str(data_set.index),
                data_shape=(3, side, side),
                batch_size=settings.batch_size,
                resize=round(side / CROP_SHARE),
                shuffle=training,
                rand_crop=training,
                rand_mirror=training,
                seed=settings.seed,
                seed_aug=settings.seed,
                preprocess_threads=settings.threads,
                prefetch_buffer=BATCHES_AHEAD,
                ctx="cpu",
                verbose=False,
                **MEAN,
                **DEVIATION,
            )
        except mx.base.MXNetError as error:
            raise self._unreadable(error) from None

    def next_batch(self) -> Any:
        try:
            batch = self._iterator.next()
        except StopIteration:
            return None
        except mx.base.MXNetError as error:
            raise self._unreadable(error) from None
        return batch.data[0], batch.label[0]

    def restart(self) -> None:
        self._iterator.reset()

    def close(self) -> None:
        del self._iterator

    def _unreadable(self, error: Exception) -> InputFault:
        # The last line of what MXNet says, without the path of the source file that it was built from.
        reason = str(error).strip().splitlines()[-1].strip().rpartition(": error: ")[2]
        records = self._data_set.files[0]
        record = mxnet_record_fault.unreadable_record(records, self._data_set.index, reason)
        return InputFault(
            record or f"MXNet cannot read {records} ({reason}): make it again with im2rec or preprocessing"
        )
