"""PyTorch behind the interface of backends: its training and inference of a batch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ..accelerator import StepTime
from ..data_sets.data_set import DataSet
from ..faults import Unavailable
from ..networks import TRANSFORMERS, folded_labels, sample_form
from ..process import keep_freed_memory
from . import pytorch_networks, pytorch_training
from .data_parallel import Rank
from .interface import FORWARD_BACKWARD, TRAIN, Compute, Input, LanguageModelForm, Settings, TransformerForm
from .pytorch_input import LoadedImages, normalised
from .pytorch_training import steps

MIXED = {"bf16": torch.bfloat16, "fp16": torch.float16}
"""What automatic mixed precision computes with."""


def open_backend(settings: Settings) -> PyTorchBackend:
    """The backend. Raises Unavailable if the device, or what compiles a network, is not there."""
    device = torch.device(settings.device)
    if device.type == "cuda" and device.index >= torch.cuda.device_count():
        raise Unavailable(
            f"PyTorch {torch.__version__} finds {torch.cuda.device_count()} CUDA devices here, not {settings.device}: "
            "use --device cpu or emulated"
        )
    if settings.computing.compile and device.type == "cpu" and not any(map(shutil.which, ("g++", "clang++"))):
        raise Unavailable("PyTorch compiles with g++, which is not here: type `apt-get install g++`, or leave it out")
    return PyTorchBackend(settings, device)


def _meet(rank: Rank, device: Any) -> None:
    """Wait for all ranks, which lie on one machine."""
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        os.environ.setdefault(name, "lo")
    torch.distributed.init_process_group(
        "nccl" if device.type == "cuda" else "gloo",
        init_method=f"file://{rank.store}",
        rank=rank.number,
        world_size=rank.count,
    )


class PyTorchBackend:
    """PyTorch on one device."""

    def __init__(self, settings: Settings, device: Any) -> None:
        self.version: str = torch.__version__
        self.stated: dict[str, bool | int | str] = {
            name: value for name, value in vars(settings.computing).items() if value is not None
        }
        self._settings = settings
        self._device = device
        self._layout = torch.channels_last if settings.computing.channels_last else torch.contiguous_format
        self.stated["freed_memory_kept"] = keep_freed_memory()
        # A step whose numbers fall below 1e-38 takes up to eight times as long, by chance and not by the machine.
        self.stated["denormals_flushed"] = torch.set_flush_denormal(True)
        # PyTorch counts the CPUs of the host, and sees no quota.
        torch.set_num_threads(settings.threads)
        if torch.get_num_interop_threads() != settings.threads:
            torch.set_num_interop_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self.clock: Callable[[], StepTime] | None = None
        if device.type == "cuda":
            # Events belong to the device that is the current one when they are first recorded.
            torch.cuda.set_device(device)
            self.clock = partial(StepTime, partial(torch.cuda.Event, enable_timing=True))
        if settings.rank.count > 1:
            _meet(settings.rank, device)
            self.stated |= {"ranks": settings.rank.count}

    def images(self, data_set: DataSet, side: int, training: bool) -> Input:
        loaded = LoadedImages(data_set, side, training, self._settings)
        self.stated |= loaded.stated
        return loaded

    def synthetic_samples(self, network: str) -> Any:
        size = self._settings.batch_size
        shape, classes = sample_form(network)
        return self._placed((torch.empty(size, *shape).uniform_(-2, 2), torch.randint(classes, (size,))))

    def image_training(self, network: str, updates: bool = True) -> Compute:
        model = self._compiled(self._together(self._image_network(network)))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
        cross_entropy, folded = torch.nn.CrossEntropyLoss(), folded_labels(network)

        def loss_of(batch: Any) -> Any:
            images, labels = self._placed(batch)
            with self._mixed():
                return cross_entropy(model(images), folded(labels))

        return steps(model, optimizer, loss_of, self._scaler(), TRAIN if updates else FORWARD_BACKWARD)

    def image_inference(self, network: str) -> Compute:
        model = self._image_network(network).eval()
        forward = self._compiled(model)

        def compute(batch: Any) -> None:
            with torch.inference_mode(), self._mixed():
                images, _ = self._placed(batch)
                forward(images)
            if self._device.type == "cuda":  # the latency of inference is that of a result
                torch.cuda.synchronize(self._device)

        return compute

    def language_training(self, form: LanguageModelForm | TransformerForm, mode: str = TRAIN) -> Compute:
        if isinstance(form, TransformerForm):
            from . import pytorch_transformers

            scores = pytorch_transformers.Scores(form.network).to(self._device)
            vocabulary = scores.inner.config.vocab_size
            together = self._compiled(self._together(scores))
            return pytorch_transformers.training(together, form, vocabulary, self._mixed, self._scaler(), mode)
        together = self._compiled(self._together(pytorch_training.LanguageModel(form).to(self._device)))
        batch_size = self._settings.batch_size
        return pytorch_training.training(together, form, batch_size, self._mixed, self._scaler(), mode)

    def _image_network(self, network: str) -> Any:
        """The network with random weights on the device, images in the order that it computes them in."""
        if network in TRANSFORMERS:
            from .pytorch_transformers import Scores

            model = Scores(network)
        else:
            model = pytorch_networks.build(network)
        return model.to(self._device, memory_format=self._layout)

    def _scaler(self) -> Any:
        """What scales the loss for fp16, and does nothing else."""
        return torch.amp.GradScaler(self._device.type, enabled=self._settings.computing.precision == "fp16")

    def _together(self, model: Any) -> Any:
        """The network, whose gradients are the mean over all ranks where there are several."""
        if self._settings.rank.count == 1:
            return model
        own = [self._device] if self._device.type == "cuda" else None
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=own)

    def _compiled(self, model: Any) -> Any:
        return torch.compile(model) if self._settings.computing.compile else model

    def _mixed(self) -> Any:
        """The context in which is computed with fewer bits, where that is asked for."""
        kind = MIXED.get(self._settings.computing.precision)
        return torch.autocast(self._device.type, kind, enabled=kind is not None)

    def _placed(self, batch: Any) -> tuple[Any, Any]:
        """Images and labels on the device, in the order of memory that the network computes in."""
        images, labels = batch
        if images.dtype == torch.uint8:
            images = normalised(images, self._device)
        layout = self._layout if images.dim() == 4 else torch.contiguous_format
        images = images.to(self._device, memory_format=layout, non_blocking=True)
        return images, labels.to(self._device, non_blocking=True)
