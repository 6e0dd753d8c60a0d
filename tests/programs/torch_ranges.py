# Fifty steps of a small model, whose ranges a test looks for. `--slow MS` has the data set take its time.
import argparse
import time
import traceback

import torch
import torch.nn as nn
import torch_npu
from torch.utils.data import DataLoader, Dataset


class Lines(Dataset):
    def __init__(self, length, slow):
        self.length, self.slow = length, slow

    def __len__(self):
        return self.length

    def __getitem__(self, place):
        if place == self.length:
            raise IndexError("there is no such line")
        time.sleep(self.slow / 1000)
        return torch.full((8,), float(place % 5)), torch.tensor([float(place % 3)])


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.out = nn.Linear(8, 16), nn.Linear(16, 1)

    def forward(self, x):
        if x.shape[0] == 3:
            raise ValueError("three is refused")
        with torch.profiler.record_function("inside"):
            return self.out(torch.relu(self.wide(x)))


def told(action):
    """The text of the error, as Python would show it."""
    try:
        action()
    except Exception:
        lines = traceback.format_exc().splitlines()
        # Lines of PyTorch itself differ where it calls hooks.
        files = [line for line in lines if "site-packages" not in line and not line.startswith("    ")]
        print("\n".join(files), flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=50)
    options.add_argument("--slow", type=float, default=0)
    options.add_argument("--workers", type=int, default=0)
    options = options.parse_args()
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(8, 8), Head()).to("npu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.MSELoss()
    data = Lines(4 * options.steps, options.slow / 4)
    for number, (x, y) in enumerate(DataLoader(data, 4, num_workers=options.workers)):
        optimizer.zero_grad()
        loss = loss_of(model(x.to("npu")), y.to("npu"))
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            print(f"{number}: {loss.item():.4f}", flush=True)
    told(lambda: model(torch.zeros(3, 8, device="npu")))
    told(lambda: list(DataLoader(data, sampler=[1, data.length])))
    told(lambda: torch.zeros(2, device="npu", requires_grad=True).backward())
    print("after", float(model(torch.zeros(1, 8, device="npu")).sum() * 0), flush=True)


main()
