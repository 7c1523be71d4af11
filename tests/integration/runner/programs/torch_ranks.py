"""One rank of a PyTorch job that counts its own steps."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    data = TensorDataset(torch.randn(300, 10), torch.randn(300, 1))
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(10, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    steps = samples = 0
    for _ in range(3):
        for inputs, wanted in loader:
            (model(inputs) - wanted).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            steps, samples = steps + 1, samples + len(inputs)
    # All ranks count alike, and the job's samples are those of all.
    print(f"counted {steps} {samples * dist.get_world_size()}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
