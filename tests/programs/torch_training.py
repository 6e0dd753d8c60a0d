# Training on an NPU beside the same on the CPU: losses and gradients agree. Prints what it finds, without moments.
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_npu

NPU = torch.device("npu:0")


class Block(nn.Module):
    """A layer of a transformer that sees only what came before."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.after = nn.LayerNorm(width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, places, width = x.shape
        parts = self.mix(self.before(x)).view(batch, places, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, places, width))
        return x + self.wide(self.after(x))


class Gpt(nn.Module):
    def __init__(self, words=50, width=32, places=16, layers=2, heads=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(places, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        place = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.places(place)
        return self.head(self.norm(self.blocks(x)))


def gpt_loss(model, device):
    tokens = torch.randint(0, 50, (4, 17), generator=torch.Generator().manual_seed(3)).to(device)
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def convolutional():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2), nn.BatchNorm2d(16), nn.SiLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip


def image_loss(model, device):
    images = torch.randn(8, 3, 14, 14, generator=torch.Generator().manual_seed(4)).to(device)
    classes = torch.arange(8, device=device)
    return F.cross_entropy(model(images), classes)


def recurrent():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.step = nn.Linear(6 + 12, 12)
            self.out = nn.Linear(12, 2)

        def forward(self, x):
            state = x.new_zeros(x.shape[1], 12)
            for step in x:
                state = torch.tanh(self.step(torch.cat([step, state], 1)))
            return self.out(state)

    return Words()


def sequence_loss(model, device):
    x = torch.randn(5, 4, 6, generator=torch.Generator().manual_seed(5)).to(device)
    return F.mse_loss(model(x), torch.ones(4, 2, device=device))


def perceptron():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 1))


def number_loss(model, device):
    x = torch.randn(32, 6, generator=torch.Generator().manual_seed(6)).to(device)
    return F.smooth_l1_loss(model(x), x.sum(1, keepdim=True))


def trained(make, loss, optimizer, device, steps):
    """Losses, the first step's gradients, and the last step's weights."""
    torch.manual_seed(7)
    model = make().to(device)
    chosen = optimizer(model.parameters())
    losses, first = [], None
    for _ in range(steps):
        chosen.zero_grad()
        value = loss(model, device)
        value.backward()
        if first is None:
            first = [parameter.grad.detach().cpu().clone() for parameter in model.parameters()]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        chosen.step()
        losses.append(value.item())
    return losses, first, [value.detach().cpu() for value in model.state_dict().values()]


def apart(one, other):
    """How far tensors are apart, relative to the largest of all their elements."""
    size = max(float(tensor.double().abs().max()) for tensor in one if tensor.numel())
    return max(float((a.double() - b.double()).abs().max()) for a, b in zip(one, other) if a.numel()) / size


def compare(name, make, loss, optimizer, steps=4, tolerance=2e-3):
    cpu = trained(make, loss, optimizer, torch.device("cpu"), steps)
    npu = trained(make, loss, optimizer, NPU, steps)
    far = [abs(a - b) / abs(a) for a, b in zip(cpu[0], npu[0])]
    checks = [max(far) < tolerance, apart(cpu[1], npu[1]) < 1e-4, apart(cpu[2], npu[2]) < tolerance]
    fell = npu[0][-1] < npu[0][0]
    print(name, "losses, gradients, weights:", *checks, "falls:", fell, flush=True)
    if not all(checks) or not fell:
        print(cpu[0], npu[0], apart(cpu[1], npu[1]), apart(cpu[2], npu[2]))
    return all(checks) and fell


def half_precision(dtype):
    """Autocast, and a scaler where the type needs one: the loss is near that of 32 bits."""
    torch.manual_seed(7)
    model = Gpt().to(NPU)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("npu", enabled=dtype is torch.float16)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        with torch.autocast("npu", dtype=dtype):
            value = gpt_loss(model, NPU)
        scaler.scale(value).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(value.item())
    torch.manual_seed(7)
    reference = gpt_loss(Gpt(), torch.device("cpu")).item()
    good = abs(losses[0] - reference) < 2e-2 * reference and losses[-1] < losses[0]
    print("autocast", dtype, good, flush=True)
    return good


def half_convolutional():
    """Batch norm and pooling behind convolutions in half precision: near what 32 bits give."""

    def net():
        torch.manual_seed(2)
        return nn.Sequential(
            nn.Conv2d(3, 20, 3, padding=1), nn.BatchNorm2d(20), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(20, 8, 3), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(32, 10),
        )  # fmt: skip

    cpu, npu = net(), net().to(NPU)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.02) for model in (cpu, npu)]
    far = 0.0
    for _ in range(4):
        exact = image_loss(cpu, torch.device("cpu"))
        with torch.autocast("npu", dtype=torch.float16):
            half = image_loss(npu, NPU)
        for optimizer, loss in zip(optimizers, (exact, half)):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        far = max(far, abs(exact.item() - half.item()) / exact.item())
    cpu.eval(), npu.eval()
    with torch.autocast("npu", dtype=torch.float16):
        far = max(far, abs(image_loss(npu, NPU).item() - image_loss(cpu, "cpu").item()))
    good = far < 2e-2
    print("half convolutional", good, flush=True)
    return good


def dropped_out():
    """Dropout keeps the mean and the share, and its gradient has the same zeros."""
    torch.manual_seed(1)
    x = torch.ones(64, 1024, device=NPU, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    kept = (y != 0).float().mean().item()
    good = abs(kept - 0.75) < 0.02 and abs(y.mean().item() - 1) < 0.03 and torch.equal(x.grad != 0, y != 0)
    print("dropout", good, flush=True)
    return good


def random_numbers():
    torch.manual_seed(1)
    normal, uniform = torch.randn(100_000, device=NPU), torch.rand(100_000, device=NPU)
    order = torch.randperm(1000, device=NPU)
    whole = torch.randint(3, 9, (10_000,), device=NPU)
    coin = torch.bernoulli(torch.full((10_000,), 0.3, device=NPU))
    drawn = torch.multinomial(torch.tensor([0.1, 0.0, 0.9], device=NPU), 1000, replacement=True)
    torch.manual_seed(1)
    again = torch.randn(100_000, device=NPU)
    good = [
        abs(normal.mean().item()) < 0.02 and abs(normal.std().item() - 1) < 0.02,
        abs(uniform.mean().item() - 0.5) < 0.01 and 0 <= uniform.min().item() and uniform.max().item() < 1,
        sorted(order.tolist()) == list(range(1000)),
        set(whole.tolist()) == {3, 4, 5, 6, 7, 8},
        abs(coin.mean().item() - 0.3) < 0.03,
        set(drawn.tolist()) == {0, 2} and (drawn == 2).float().mean().item() > 0.8,
        torch.equal(again, normal),
    ]
    print("random", *good, flush=True)
    return all(good)


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "Adam": lambda p: torch.optim.Adam(p, lr=1e-2),
    "Adam amsgrad": lambda p: torch.optim.Adam(p, lr=1e-2, amsgrad=True, foreach=False),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-2),
    "AdamW foreach": lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, momentum=0.5),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=1.0),
    "Adamax": lambda p: torch.optim.Adamax(p, lr=1e-2),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=1e-2),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=1e-2),
    "ASGD": lambda p: torch.optim.ASGD(p, lr=1e-2),
}


def main():
    good = [
        compare("gpt", Gpt, gpt_loss, OPTIMIZERS["AdamW"]),
        compare("gpt of half width", lambda: Gpt(width=16, heads=2), gpt_loss, OPTIMIZERS["SGD"]),
        compare("convolutional", convolutional, image_loss, OPTIMIZERS["SGD"]),
        compare("recurrent", recurrent, sequence_loss, OPTIMIZERS["Adam"]),
    ]
    for name, optimizer in OPTIMIZERS.items():
        good.append(compare(name, perceptron, number_loss, optimizer))
    good += [half_precision(torch.bfloat16), half_precision(torch.float16), half_convolutional(), dropped_out(), random_numbers()]
    print("all good" if all(good) else "not all good")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
