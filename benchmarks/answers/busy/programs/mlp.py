"""A small network on random images of MNIST's size, as in a first tutorial of PyTorch."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

images, labels = torch.rand(16384, 784), torch.randint(10, (16384,))
loader = DataLoader(TensorDataset(images, labels), batch_size=256, shuffle=True)
network = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
while True:
    for batch, wanted in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(batch), wanted).backward()
        optimizer.step()
