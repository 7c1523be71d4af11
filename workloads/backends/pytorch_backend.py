"""PyTorch behind the interface of backends: its training and inference of a batch."""

from __future__ import annotations

from typing import Any

import torch

from ..accelerator_clock import AcceleratorClock
from ..data_set import DataSet
from ..faults import Unavailable
from ..lmdb_images import Batch
from . import Compute, Input, LanguageModelForm, Settings, pytorch_language, pytorch_networks
from .network_forms import CLASSES
from .pytorch_input import RecordIOImages


def open_backend(settings: Settings) -> PyTorchBackend:
    """The backend. Raises Unavailable if the device is not there."""
    device = torch.device(settings.device)
    if device.type == "cuda" and device.index >= torch.cuda.device_count():
        raise Unavailable(
            f"PyTorch {torch.__version__} finds {torch.cuda.device_count()} CUDA devices here, not {settings.device}: "
            "use --device cpu or emulated"
        )
    return PyTorchBackend(settings, device)


class PyTorchBackend:
    """PyTorch on one device."""

    def __init__(self, settings: Settings, device: Any) -> None:
        self.version: str = torch.__version__
        self._settings = settings
        self._device = device
        # PyTorch reads the number of CPUs of the host, and no quota.
        torch.set_num_threads(settings.threads)
        if torch.get_num_interop_threads() != settings.threads:
            torch.set_num_interop_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self.clock = self._own_clock() if device.type == "cuda" else None

    def recordio_images(self, data_set: DataSet, side: int, training: bool) -> Input:
        return RecordIOImages(data_set, side, training, self._settings)

    def synthetic_images(self, side: int) -> Any:
        size = self._settings.batch_size
        images = torch.empty(size, 3, side, side).uniform_(-2, 2)
        return self._placed((images, torch.randint(CLASSES, (size,))))

    def image_training(self, network: str) -> Compute:
        model = self._compiled(network).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
        loss_of = torch.nn.CrossEntropyLoss()

        def compute(batch: Any) -> None:
            images, labels = self._placed(batch)
            optimizer.zero_grad()
            loss_of(model(images), labels).backward()
            optimizer.step()

        return compute

    def image_inference(self, network: str) -> Compute:
        model = self._compiled(network).eval()

        def compute(batch: Any) -> None:
            with torch.inference_mode():
                images, _ = self._placed(batch)
                model(images)
            self._wait()

        return compute

    def language_training(self, form: LanguageModelForm) -> Compute:
        return pytorch_language.training(form, self._settings.batch_size, self._device)

    def _compiled(self, network: str) -> Any:
        # Convolutions on a CPU take up to 2.2 times as long with channels first.
        return pytorch_networks.build(network).to(self._device, memory_format=torch.channels_last)

    def _placed(self, batch: Any) -> tuple[Any, Any]:
        """Images and labels on the device, in the order of memory that the network computes in."""
        if isinstance(batch, Batch):
            batch = torch.from_numpy(batch.images), torch.from_numpy(batch.labels).long()
        images, labels = batch
        return images.to(self._device, memory_format=torch.channels_last), labels.to(self._device)

    def _own_clock(self) -> AcceleratorClock:
        """That of the GPU, whose events belong to the device that is the current one when they are first recorded."""
        torch.cuda.set_device(self._device)
        return AcceleratorClock(lambda: torch.cuda.Event(enable_timing=True))

    def _wait(self) -> None:
        """Until the result is there: the latency of inference is that of a result."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
