# Training steps with memory of different sizes, with what PyTorch's own counters say of them, as JSON: the peaks, what
# was reserved at the peak, and both at the end. `--limit` then asks for more than the device has.
import argparse
import gc
import json
import os
import sys

import torch
import torch.nn as nn
import torch_npu


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=6)
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--empty", action="store_true")
    options = options.parse_args()
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 8)).to("npu")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for step in range(options.steps):
        x = torch.ones(256 * (1 + step % 3), 64, device="npu")
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 4))
        del x, loss
    counts = {
        "losses": losses,
        "max_allocated": torch.npu.max_memory_allocated(),
        "max_reserved": torch.npu.max_memory_reserved(),
    }
    if options.limit:
        counts["unused"] = torch.npu.memory_reserved() - torch.npu.memory_allocated()
        try:
            torch.empty(options.limit, dtype=torch.uint8, device="npu")
        except RuntimeError as error:
            counts["error"] = type(error).__name__
    if options.empty:
        del model, optimizer
        gc.collect()
        torch.npu.empty_cache()
    torch.npu.synchronize()
    counts["allocated"] = torch.npu.memory_allocated()
    counts["reserved"] = torch.npu.memory_reserved()
    left, whole = torch.npu.mem_get_info()
    counts["in_use"] = whole - left
    print(json.dumps(counts))
    sys.stdout.flush()
    # The end of the interpreter gives the memory back.
    os._exit(0)


main()
