"""What the PyTorch backend sets for the whole process before it computes, and how it hands batches to a device."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

PROGRAM = """
import torch
from workloads.backends import Settings, open_backend
before = bool((torch.tensor([1e-30]) * 1e-12).any())
backend = open_backend("pytorch", Settings("cpu", 2, 0, 8))
numbers = torch.full((1 << 20,), 1e-30)
print(before, bool((numbers * 1e-12).any()), backend.stated["denormals_flushed"], backend.stated["freed_memory_kept"])
"""


def test_numbers_too_small_to_matter_take_no_longer_than_others() -> None:
    """They become 0 in every thread, and the run says so."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True", "True"]


COPIES = """
import torch
from workloads.backends import pytorch_input, pytorch_placing

class OnGpu:
    type = "cuda"

asked = []
class Tensor:
    pinned = False
    def pin_memory(self):
        self.pinned = True
        return self
    def to(self, device, **how):
        asked.append((self.pinned, how))
        return self

pytorch_placing.placed(Tensor(), OnGpu())
torch_tensor, made = torch.tensor, []
torch.tensor = lambda *args, **how: made.append(args) or torch_tensor(*args, **how)
for _ in range(3):
    pytorch_input.normalised(torch.zeros(2, 4, 4, 3, dtype=torch.uint8), "cpu")
print(asked, len(made))
"""


def test_what_goes_to_a_gpu_waits_for_nothing() -> None:
    """From pinned memory, not blocking; what is the same for every batch is copied once."""
    done = subprocess.run([sys.executable, "-c", COPIES], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[(True, {'non_blocking': True})] 2"
