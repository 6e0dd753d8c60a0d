# Programs of other kinds than a plain loop: `torch_kinds.py KIND [FILE]`, or `torch_kinds.py all`. What they print is compared
# between runs, so it holds losses, gradients, and the order in which hooks of the program's own were called.
import sys

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
import torch_npu
from torch.utils.checkpoint import checkpoint

DEVICE = "npu:0"


def say(*words):
    print(*words, flush=True)


def told(name, *tensors):
    say(name, *(f"{float(tensor.detach().double().sum()):.6f}" for tensor in tensors))


class Block(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.norm, self.query, self.key = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.norm(x)
        parts = [part(y).view(2, -1, 2, 8).transpose(1, 2) for part in (self.query, self.key, self.value)]
        x = x + self.out(F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(x.shape))
        return x + self.narrow(F.relu(self.wide(x), inplace=True))


def checkpoints():
    for reentrant in (False, True):
        torch.manual_seed(1)
        blocks = nn.ModuleList(Block() for _ in range(3)).to(DEVICE)
        optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
        for step in range(3):
            x = torch.linspace(-1, 1, 2 * 4 * 16).view(2, 4, 16).to(DEVICE).requires_grad_()
            y = x
            for block in blocks:
                y = checkpoint(block, y, use_reentrant=reentrant)
            loss = y.square().mean()
            loss.backward()
            told(f"checkpoint {reentrant} {step}", loss, x.grad, blocks[0].key.weight.grad)
            optimizer.step()
            optimizer.zero_grad()


def adversaries():
    torch.manual_seed(2)
    maker = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 4)).to(DEVICE)
    judge = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(DEVICE)
    optimizers = [torch.optim.Adam(judge.parameters(), lr=0.01), torch.optim.Adam(maker.parameters(), lr=0.01)]
    for step in range(6):
        real = torch.linspace(0, 1, 32).view(8, 4).to(DEVICE)
        made = maker(real.flip(0))
        optimizers[0].zero_grad()
        bad = judge(made.detach()).sigmoid().mean() - judge(real).sigmoid().mean()
        bad.backward()
        optimizers[0].step()
        optimizers[1].zero_grad()
        good = -judge(made).sigmoid().mean()
        good.backward()
        optimizers[1].step()
        told(f"adversaries {step}", bad, good)


def mixed():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 1)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = torch.npu.amp.GradScaler(init_scale=2.0**40, growth_interval=2)
    for step in range(8):
        optimizer.zero_grad()
        with torch.autocast("npu", dtype=torch.float16):
            loss = model(torch.linspace(-1, 1, 64).view(8, 8).to(DEVICE)).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        told(f"mixed {step} {scaler.get_scale()}", loss)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * 2 + 0 * x


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        y = self.inner(Doubled.apply(x))
        return {"first": y, "second": (Doubled.apply(y), None)}


def functions():
    torch.manual_seed(4)
    model = Twice().to(DEVICE)
    x = torch.linspace(0, 1, 8).view(2, 4).to(DEVICE).requires_grad_()
    out = model(x)
    loss = out["first"].sum() + out["second"][0].square().sum()
    # Twice through one graph, then gradients of gradients.
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    told("functions", loss, x.grad)
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x)
    told("second", first, second)
    square = lambda weight: (x.detach() @ weight).square().sum()
    told("transformed", torch.func.grad(square)(model.inner.weight.detach()))
    same = nn.Identity()(x * 3)
    told("identity", *torch.autograd.grad(nn.Identity()(same).sum(), x))


def hooks():
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)).to(DEVICE)
    order = []
    for name, module in model.named_children():
        module.register_forward_pre_hook(lambda module, args, name=name: order.append(f"before {name}"))
        module.register_forward_hook(lambda module, args, out, name=name: order.append(f"after {name}"))
        module.register_full_backward_pre_hook(lambda module, out, name=name: order.append(f"gradient to {name}"))
        module.register_full_backward_hook(lambda module, into, out, name=name: order.append(f"gradient of {name}"))
    x = torch.linspace(-1, 1, 8).view(2, 4).to(DEVICE).requires_grad_()
    x.register_hook(lambda gradient: gradient * 2)
    y = model(x)
    y.register_hook(lambda gradient: order.append("tensor"))
    y.grad_fn.register_prehook(lambda gradients: order.append("node"))
    model[0].weight.register_post_accumulate_grad_hook(lambda weight: order.append("accumulated"))
    y.sum().backward()
    say(order)
    say(len(y.grad_fn.next_functions), [len(module._forward_hooks) for module in model])
    told("hooks", x.grad, model[0].weight.grad)


class Refusing(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        y = self.inner(x)
        if x.shape[0] == 3:
            raise ValueError("three is refused")
        return y


def errors():
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(2, 2), Refusing()).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for count in (1, 3, 2, 3, 4):
        try:
            loss = model(torch.ones(count, 2, device=DEVICE)).sum()
            loss.backward()
            if count == 2:
                raise KeyError(count)
            optimizer.step()
        except (KeyError, ValueError) as error:
            say(count, repr(error))
            continue
        finally:
            optimizer.zero_grad()
        told(f"errors {count}", loss)

    def refuse(gradient):
        raise RuntimeError("no gradient")

    y = model(torch.ones(1, 2, device=DEVICE))
    y.register_hook(refuse)
    try:
        y.sum().backward()
    except RuntimeError as error:
        say(error)
    sys.exit(7)


def spawned(rank):
    torch.manual_seed(rank)
    x = torch.ones(2, 2, device=f"npu:{rank}", requires_grad=True)
    loss = nn.Linear(2, 1).to(f"npu:{rank}")(x).sum()
    loss.backward()
    # Lines of two processes come in any order.
    with open(f"{sys.argv[2]}.{rank}", "w") as file:
        print(f"{float(loss):.6f} {float(x.grad.sum()):.6f}", file=file)


def spawning():
    mp.spawn(spawned, nprocs=2)
    for rank in range(2):
        with open(f"{sys.argv[2]}.{rank}") as file:
            say(rank, file.read().strip())


if __name__ == "__main__":
    kinds = {kind.__name__: kind for kind in (checkpoints, adversaries, mixed, functions, hooks, errors, spawning)}
    if sys.argv[1] == "all":
        del kinds["spawning"]
        for kind in kinds.values():
            kind()
    else:
        kinds[sys.argv[1]]()
