"""Loops over loaders as other libraries shape them; the program counts its own steps and samples."""

import itertools
import operator
import sys

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

SAMPLES, BATCH, EPOCHS = 70, 8, 3


class Pictures(Dataset):
    """With more boxes on most than there are pictures in a batch."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return {"boxes": torch.rand(index % 9 + 1, 4), "image": torch.rand(3, 8, 8), "camera": torch.eye(3)}


class Batches(IterableDataset):
    """A data set that makes the batches, as WebDataset does: with labels, alone, or one picture at a time."""

    def __init__(self, way):
        self.way = way

    def __iter__(self):
        for number in range(SAMPLES // BATCH):
            if self.way == "picture":
                yield Pictures()[number]
            elif self.way == "alone":
                yield torch.rand(BATCH, 10)
            else:
                yield torch.rand(BATCH, 10), torch.rand(BATCH)


class Repeated:
    """Goes through a batch sampler without end, as that of ultralytics does."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class Endless(DataLoader):
    """Keeps its workers for all epochs, as that of ultralytics does."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        object.__setattr__(self, "batch_sampler", Repeated(self.batch_sampler))
        self.batches = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        return itertools.islice(self.batches, len(self))


class Buckets(Sampler):
    """Batches of one to seven samples."""

    def __iter__(self):
        return iter([list(range(number % 7 + 1)) for number in range(20)])


def joined(samples):
    """As detection collates: what is on the pictures in one array, the pictures beside it."""
    boxes = torch.cat([sample["boxes"] for sample in samples])
    return {"boxes": boxes, "image": torch.stack([sample["image"] for sample in samples])}


def listed(samples):
    """As mmengine collates."""
    return {"inputs": [sample["image"] for sample in samples], "data_samples": samples}


def loader_of(way):
    """The loader, and how many samples its next batch has by its own count; None: nobody could know."""
    pictures = Pictures()
    if way == "yolo":
        return Endless(pictures, BATCH, shuffle=True, num_workers=2, collate_fn=joined), lambda b: len(b["image"])
    if way == "one":
        return DataLoader(pictures, batch_size=1, collate_fn=operator.itemgetter(0)), lambda _: 1
    if way == "detectron2":
        return DataLoader(pictures, BATCH, drop_last=True, collate_fn=lambda samples: samples), len
    if way == "mmengine":
        return DataLoader(pictures, BATCH, num_workers=1, collate_fn=listed), lambda b: len(b["inputs"])
    if way == "buckets":
        return DataLoader(pictures, batch_sampler=Buckets(), collate_fn=joined), lambda b: len(b["image"])
    if way == "batches":
        return DataLoader(Batches(way), batch_size=None, num_workers=1), lambda b: len(b[0])
    return DataLoader(Batches(way), batch_size=None), lambda _: 1


def main():
    torch.set_num_threads(1)
    loader, samples_of = loader_of(sys.argv[1])
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    steps = samples = 0
    for _ in range(EPOCHS):
        for batch in loader:
            model(torch.rand(1)).sum().backward()
            optimizer.step()
            steps, samples = steps + 1, samples + samples_of(batch)
    print(f"counted {steps} {samples}", flush=True)


if __name__ == "__main__":
    main()
