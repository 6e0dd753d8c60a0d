# A small language model, trained on an NPU or on softacl, by one process or by several that torchrun starts.
# docs/PYTORCH.md tells how to run and trace it.
import argparse
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

import torch_npu

TEXT = "the model learns this line by heart because it reads nothing else. " * 8
LETTERS = sorted(set(TEXT))


class Lines(Dataset):
    """Pieces of the text, each with the piece that comes one letter later."""

    def __init__(self, places):
        self.letters = torch.tensor([LETTERS.index(letter) for letter in TEXT])
        self.places = places

    def __len__(self):
        return len(self.letters) - self.places - 1

    def __getitem__(self, first):
        piece = self.letters[first : first + self.places + 1]
        return piece[:-1], piece[1:]


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.parts, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        heads = [
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.parts(self.norms[0](x)).chunk(3, -1)
        ]
        seen = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.wide(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, places, width=64, heads=4, layers=2):
        super().__init__()
        self.letter, self.place = nn.Embedding(len(LETTERS), width), nn.Embedding(places, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(LETTERS))

    def forward(self, letters):
        places = torch.arange(letters.shape[1], device=letters.device)
        return self.head(self.norm(self.layers(self.letter(letters) + self.place(places))))


def main():
    options = argparse.ArgumentParser(description="trains a small language model on an NPU")
    options.add_argument("--steps", type=int, default=30)
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--places", type=int, default=32)
    options.add_argument("--workers", type=int, default=0, help="processes that load data")
    options = options.parse_args()

    ranks, local = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    torch.npu.set_device(local)
    device = torch.device("npu", local)
    if ranks > 1:
        torch.distributed.init_process_group("hccl")
    torch.manual_seed(local)
    data = DataLoader(Lines(options.places), options.batch, shuffle=True, drop_last=True, num_workers=options.workers)
    torch.manual_seed(1)
    model = Model(options.places).to(device)
    if ranks > 1:
        model = nn.parallel.DistributedDataParallel(model, device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    begin, step = time.monotonic(), 0
    while step < options.steps:
        for letters, next_letters in data:
            optimizer.zero_grad()
            logits = model(letters.to(device))
            loss = F.cross_entropy(logits.flatten(0, 1), next_letters.to(device).flatten())
            loss.backward()
            optimizer.step()
            step += 1
            if local == 0 and step % 10 == 0:
                print(f"step {step}, loss {loss.item():.3f}", flush=True)
            if step == options.steps:
                break
    torch.npu.synchronize()
    if local == 0:
        print(f"{step / (time.monotonic() - begin):.1f} steps a second")
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
