"""A small PyTorch program that counts its own steps; its first word says how it trains."""

import os
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

SAMPLES, BATCH, EPOCHS = 300, 32, 3


def main() -> None:
    way, workers = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(SAMPLES, 10), torch.randn(SAMPLES, 1))
    train = DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    valid = DataLoader(data, 100)
    model = torch.nn.Linear(10, 1)
    steps = samples = 0
    if way == "infer":
        with torch.no_grad():
            for inputs, _ in train:
                model(inputs)
                steps, samples = steps + 1, samples + len(inputs)
        print(f"counted {steps} {samples}")
        return
    if way == "again":
        inputs, wanted = next(iter(train))
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for _ in range(100):
            (model(inputs) - wanted).square().mean().backward()
            optimizer.step()
        print(f"counted 100 {100 * BATCH}", flush=True)
        os._exit(0)
    one, other = (torch.optim.SGD(model.parameters(), 0.01) for _ in range(2))
    for _ in range(EPOCHS):
        for number, (inputs, wanted) in enumerate(train):
            (model(inputs) - wanted).square().mean().backward()
            if way == "beside":
                model(next(iter(valid))[0])
            if way == "own":
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter -= 0.01 * parameter.grad
                model.zero_grad()
            elif way != "accumulate" or number % 4 == 3:
                one.step()
                one.zero_grad()
            if way == "two":
                other.step()
            if way == "evaluate" and number % 10 == 5:
                for inputs_now, _ in valid:
                    model(inputs_now)
            steps, samples = steps + 1, samples + len(inputs)
        with torch.no_grad():
            for inputs, _ in valid:
                model(inputs)
        if way != "own":
            for inputs, _ in train:
                model(inputs)
    print(f"counted {steps} {samples}")


if __name__ == "__main__":
    main()
