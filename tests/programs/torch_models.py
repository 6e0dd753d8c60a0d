# Models and habits of PyTorch that training loops of other files have not: `torch_models.py NAME…`, or `torch_models.py all`. Each is
# run on the CPU as well. What is printed is compared between runs.
import contextlib
import copy
import io
import os
import sys
import tempfile
import threading

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_npu
from torch.utils.data import DataLoader, Dataset

CPU, NPU = torch.device("cpu"), torch.device("npu:0")


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else []
    return [tensor for part in parts for tensor in flat(part)]


def same(name, expected, found, near=1e-4):
    expected, found = flat(expected), flat(found)
    assert len(expected) == len(found), f"{name}: {len(found)} results, not {len(expected)}"
    for a, b in zip(expected, found):
        a, b = a.detach(), b.detach().cpu()
        assert a.shape == b.shape and a.dtype == b.dtype, f"{name}: {b.dtype} {b.shape}, not {a.dtype} {a.shape}"
        alike = torch.allclose(a.double(), b.double(), rtol=near, atol=near)
        assert alike, f"{name}: {b}, not {a}"


def trained(name, model, *inputs, near=1e-4, steps=3, call=None):
    """The same steps on both: results, gradients, weights and buffers."""
    call = call or (lambda model, *inputs: model(*inputs))
    told = []
    for device in (CPU, NPU):
        own = copy.deepcopy(model).to(device)
        optimizer = torch.optim.SGD(own.parameters(), lr=0.01, momentum=0.9)
        values = []
        for _ in range(steps):
            optimizer.zero_grad()
            results = flat(call(own, *(it.to(device) for it in inputs)))
            scaled = [(it.float() * torch.linspace(-1, 1, it.numel(), device=device).view(it.shape)).sum() for it in results]
            torch.stack(scaled).sum().backward()
            values += [results, [it.grad.clone() for it in own.parameters() if it.grad is not None]]
            optimizer.step()
        told.append([values, own.state_dict()])
    same(name, *told, near=near)
    print(name, flush=True)


def recurrent():
    x = torch.randn(6, 4, 8)
    for name, layer in {
        "lstm": nn.LSTM(8, 12, num_layers=2),
        "lstm both ways": nn.LSTM(8, 12, bidirectional=True),
        "lstm batch first": nn.LSTM(8, 12, batch_first=True, bias=False),
        "gru": nn.GRU(8, 12, num_layers=2, bidirectional=True),
        "rnn": nn.RNN(8, 12),
    }.items():
        trained(name, layer, x)

    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.long, self.gated = nn.LSTMCell(8, 12), nn.GRUCell(12, 12)

        def forward(self, x):
            h = c = g = torch.zeros(x.shape[1], 12, device=x.device)
            for moment in x:
                h, c = self.long(moment, (h, c))
                g = self.gated(h, g)
            return g, c

    trained("cells", Cells(), x)


def transformers():
    source, target = torch.randn(2, 7, 16), torch.randn(2, 5, 16)
    mask = torch.zeros(2, 7, dtype=torch.bool)
    mask[0, 5:] = True
    words = dict(dropout=0.0, batch_first=True)
    layer = nn.TransformerEncoderLayer(16, 4, 32, norm_first=True, activation="gelu", **words)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    trained("encoder", encoder, source, mask, call=lambda model, x, mask: model(x, src_key_padding_mask=mask))
    trained("decoder", nn.TransformerDecoderLayer(16, 4, 32, **words), target, source)

    def causal(model, source, target):
        ahead = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        return model(source, target, tgt_mask=ahead)

    trained("transformer", nn.Transformer(16, 4, 1, 1, 32, **words), source, target, call=causal)
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    trained("attention with weights", attention, source, call=lambda model, x: model(x, x, x, need_weights=True))
    grouped = lambda model, x: F.scaled_dot_product_attention(
        *(part.unflatten(-1, (heads, -1)).transpose(1, 2) for part, heads in zip(model(x).split([32, 16, 16], -1), (4, 2, 2))),
        enable_gqa=True,
    )
    trained("grouped queries", nn.Linear(16, 64), source, call=grouped)


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.before, self.between = heads, nn.RMSNorm(width), nn.RMSNorm(width)
        self.parts, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 64), nn.Linear(width, 64), nn.Linear(64, width)

    def turned(self, x, first):
        places = torch.arange(first, first + x.shape[-2], device=x.device).float()
        angles = torch.outer(places, 10000 ** -(torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1]))
        a, b = x.chunk(2, -1)
        return x * torch.cat([angles.cos()] * 2, -1) + torch.cat([-b, a], -1) * torch.cat([angles.sin()] * 2, -1)

    def forward(self, x, kept):
        parts = [it.unflatten(-1, (self.heads, -1)).transpose(1, 2) for it in self.parts(self.before(x)).chunk(3, -1)]
        first = kept[0].shape[2] if kept else 0
        query, key, value = self.turned(parts[0], first), self.turned(parts[1], first), parts[2]
        if kept:
            key, value = torch.cat([kept[0], key], 2), torch.cat([kept[1], value], 2)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=query.shape[2] > 1)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), (key, value)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.blocks, self.norm = nn.Embedding(50, 32), nn.ModuleList([Block(), Block()]), nn.RMSNorm(32)

    def forward(self, words, kept=None):
        x, now = self.words(words), []
        for index, block in enumerate(self.blocks):
            x, pair = block(x, kept[index] if kept else None)
            now.append(pair)
        return self.norm(x) @ self.words.weight.T, now


def generation():
    model, prompt = Language().eval(), torch.randint(0, 50, (2, 6))

    @torch.inference_mode()
    def greedy(model, words):
        logits, kept = model(words)
        for _ in range(8):
            word = logits[:, -1].argmax(-1, keepdim=True)
            words = torch.cat([words, word], 1)
            logits, kept = model(word, kept)
        return words

    @torch.no_grad()
    def beams(model, words):
        words, scores = words[:1].repeat(3, 1), torch.tensor([0.0, -1e9, -1e9], device=words.device)
        for _ in range(4):
            scores, at = (F.log_softmax(model(words)[0][:, -1], -1) + scores[:, None]).flatten().topk(3)
            words = torch.cat([words[at // 50], (at % 50)[:, None]], 1)
        return words, scores

    @torch.no_grad()
    def nuclei(model, words):
        logits = model(words)[0][:, -1]
        logits[logits < logits.topk(5)[0][:, [-1]]] = -torch.inf
        shares, at = logits.softmax(-1).sort(descending=True)
        shares = shares * (shares.cumsum(-1) - shares < 0.9)
        assert (at.gather(1, torch.multinomial(shares, 1)) < 50).all()
        return shares

    for way in (greedy, beams, nuclei):
        same(way.__name__, way(model, prompt), way(copy.deepcopy(model).to(NPU), prompt.to(NPU)))
        print(way.__name__, flush=True)
    loss = lambda model, words: F.cross_entropy(model(words)[0][:, :-1].flatten(0, 1), words[:, 1:].flatten())
    trained("language model", Language(), prompt, call=loss)


class Noise(nn.Module):
    """A small U-net that is told how much noise there is."""

    def __init__(self):
        super().__init__()
        self.first, self.down = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.norm, self.time, self.up = nn.GroupNorm(4, 16), nn.Linear(8, 16), nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.last = nn.Conv2d(16, 3, 3, padding=1, padding_mode="reflect")

    def forward(self, x, time):
        angles = time[:, None] * torch.exp(-torch.arange(4, device=x.device) / 2)
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        wide = F.silu(self.first(x))
        deep = F.silu(self.norm(self.down(wide)) + time[:, :, None, None])
        return self.last(torch.cat([wide, self.up(deep)], 1)), F.interpolate(deep, size=(5, 7), mode="bilinear")


def images():
    trained("u-net", Noise(), torch.randn(2, 3, 8, 8), torch.rand(2), near=1e-3)
    mixed = nn.Sequential(nn.Conv1d(4, 8, 3, dilation=2, padding="same"), nn.BatchNorm1d(8), nn.PReLU(8), nn.AdaptiveAvgPool1d(3), nn.Flatten(), nn.Linear(24, 4))
    trained("sequence of conv1d", mixed, torch.randn(4, 4, 10), near=1e-3)
    pixels = nn.Sequential(nn.Conv2d(3, 12, 3, groups=3, padding=1), nn.PixelShuffle(2), nn.InstanceNorm2d(3, affine=True), nn.MaxPool2d(3, 2, ceil_mode=True), nn.Softmax2d())
    trained("groups and pixels", pixels, torch.randn(2, 3, 6, 6), near=1e-3)


def losses():
    targets = {
        nn.CosineEmbeddingLoss: lambda x: (x.flip(0), torch.tensor([1.0, -1, 1, -1], device=x.device)),
        nn.TripletMarginLoss: lambda x: (x.flip(0), x.flip(1)),
        nn.SoftMarginLoss: lambda x: (x.detach().flip(0).sign(),),
        nn.PoissonNLLLoss: lambda x: (x.detach().abs(),),
        nn.GaussianNLLLoss: lambda x: (x.detach().flip(0), x.detach().abs() + 0.1),
        nn.HuberLoss: lambda x: (x.detach().flip(1),),
        nn.MultiLabelSoftMarginLoss: lambda x: ((x.detach() > 0).float(),),
    }
    for kind, target in targets.items():
        trained(kind.__name__, nn.Linear(6, 5), torch.randn(4, 6), call=lambda model, x: (lambda y: kind()(y, *target(y)))(model(x)))


class Clamped(torch.autograd.Function):
    @staticmethod
    def forward(context, x, least):
        context.save_for_backward(x)
        context.least = least
        return x.clamp(min=least)

    @staticmethod
    def backward(context, grad):
        (x,) = context.saved_tensors
        return grad * (x > context.least), None


def habits():
    """Gradients of several batches, a schedule, averaged weights, clipped gradients, a state that is saved and read again."""

    def run(device, folder):
        torch.manual_seed(8)
        model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2)).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
        averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
        numbers, told = torch.Generator().manual_seed(3), []
        for step in range(8):
            for _ in range(3):
                x = torch.randn(4, 6, generator=numbers).to(device)
                loss = F.smooth_l1_loss(Clamped.apply(model(x), -0.5), x[:, :2]) / 3
                loss.backward()
            told += [loss, nn.utils.clip_grad_norm_(model.parameters(), 0.1)]
            optimizer.step()
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            schedule.step()
            averaged.update_parameters(model)
            if step == 4:
                file = os.path.join(folder, "state")
                torch.save([it.state_dict() for it in (model, optimizer, schedule)], file)
                for it, state in zip((model, optimizer, schedule), torch.load(file, map_location=device)):
                    it.load_state_dict(state)
        return told, averaged.state_dict()

    with tempfile.TemporaryDirectory() as folder:
        same("habits", run(CPU, folder), run(NPU, folder))
    kept = io.BytesIO()
    torch.save(nn.Linear(3, 2).to(NPU).state_dict(), kept)
    kept.seek(0)
    assert all(it.device == CPU for it in torch.load(kept, map_location="cpu").values())
    # Most of its weights do not move in most of its steps: what is picked by a mask may be nothing.
    for optimizer in (torch.optim.Rprop, torch.optim.Adafactor, torch.optim.NAdam):
        told = []
        for device in (CPU, NPU):
            torch.manual_seed(1)
            model = nn.Linear(5, 3).to(device)
            steps = optimizer(model.parameters(), lr=0.01)
            for _ in range(4):
                steps.zero_grad()
                model(torch.linspace(-1, 1, 20).view(4, 5).to(device)).square().sum().backward()
                steps.step()
            told.append(model.state_dict())
        same(optimizer.__name__, *told)
    print("habits", flush=True)


def half():
    def run(device, dtype):
        torch.manual_seed(7)
        model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scaler = torch.amp.GradScaler("npu", init_scale=1024.0, enabled=dtype is torch.float16)
        numbers, told = torch.Generator().manual_seed(1), []
        for _ in range(6):
            x, y = torch.randn(8, 16, generator=numbers), torch.randint(0, 4, (8,), generator=numbers)
            optimizer.zero_grad()
            with torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
                loss = F.cross_entropy(model(x.to(device)).float(), y.to(device))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            told.append(loss)
        return told

    for dtype, near in ((None, 1e-4), (torch.float16, 2e-2), (torch.bfloat16, 5e-2)):
        same(f"half {dtype}", run(CPU, None), run(NPU, dtype), near=near)
    print("half", flush=True)


def streams():
    host = torch.arange(1 << 16, dtype=torch.float32).pin_memory()
    back, copying, computing = torch.empty_like(host).pin_memory(), torch.npu.Stream(), torch.npu.Stream(priority=-1)
    for step in range(5):
        begin, there, done = (torch.npu.Event(enable_timing=True) for _ in range(3))
        with torch.npu.stream(copying):
            begin.record()
            device = host.to(NPU, non_blocking=True)
            there.record()
        with torch.npu.stream(computing):
            computing.wait_event(there)
            device.record_stream(computing)
            back.copy_(device * 2 + step, non_blocking=True)
            done.record()
        done.synchronize()
        assert torch.equal(back, host * 2 + step) and begin.elapsed_time(done) > 0
    sums = {}

    def work(number):
        with torch.npu.stream(torch.npu.Stream()):
            x = torch.full((100,), float(number), device=NPU)
            for _ in range(20):
                x = x + 1
            sums[number] = x.sum().item()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [it.start() for it in threads]
    [it.join() for it in threads]
    print("streams", sorted(sums.values()), flush=True)
    graph, x, weight = torch.npu.NPUGraph(), torch.zeros(4, device=NPU), torch.ones(4, 4, device=NPU)
    with torch.npu.graph(graph):
        y = (x @ weight + 1) * 2
    for step in range(3):
        x.fill_(step)
        graph.replay()
        print("replayed", y.tolist(), flush=True)
    layer = nn.Linear(4, 4).to(NPU)
    plain = layer(torch.ones(2, 4, device=NPU))
    graphed = torch.npu.make_graphed_callables(layer, (torch.zeros(2, 4, device=NPU, requires_grad=True),))
    found = graphed(torch.ones(2, 4, device=NPU, requires_grad=True))
    same("graphed", plain.cpu(), found)


class Samples(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        x = torch.randn(8, generator=torch.Generator().manual_seed(index))
        return {"x": x, "y": (x.sum() > 0).long()}


def loaders():
    for workers, stays in ((0, False), (2, True)):
        data = DataLoader(Samples(), 8, num_workers=workers, pin_memory=True, persistent_workers=stays)
        torch.manual_seed(0)
        model = nn.Linear(8, 2).to(NPU)
        optimizer = torch.optim.SGD(model.parameters(), 0.5)
        for _ in range(2):
            for batch in data:
                assert batch["x"].is_pinned()
                x, y = (batch[name].to(NPU, non_blocking=True) for name in "xy")
                loss = F.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print("loader", workers, f"{loss.item():.5f}", flush=True)


def memory():
    total = torch.npu.mem_get_info()[1]
    for _ in range(2):
        try:
            torch.empty(2 * total, dtype=torch.uint8, device=NPU)
            raise AssertionError("there is no such memory")
        except RuntimeError as error:
            assert "out of memory" in str(error), error
    kept = []
    try:
        while True:
            kept.append(torch.empty(total // 8, dtype=torch.uint8, device=NPU))
    except RuntimeError as error:
        assert "out of memory" in str(error), error
    print("memory", len(kept) > 4, flush=True)
    del kept
    torch.npu.empty_cache()
    print("again", torch.ones(1000, device=NPU).sum().item(), flush=True)


def profiled():
    model, x = nn.Linear(8, 8).to(NPU), torch.ones(4, 8, device=NPU)
    with tempfile.TemporaryDirectory() as folder:
        kinds = torch_npu.profiler.ProfilerActivity
        told = torch_npu.profiler.tensorboard_trace_handler(folder, analyse_flag=False)
        steps = torch_npu.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
        # It tells the time of its warnings.
        with contextlib.redirect_stdout(io.StringIO()), torch_npu.profiler.profile(
            activities=[kinds.CPU, kinds.NPU], schedule=steps, on_trace_ready=told
        ) as profile:
            for _ in range(5):
                model(x).sum().backward()
                profile.step()
        print("profiled", len(os.listdir(folder)), flush=True)


KINDS = [recurrent, transformers, generation, images, losses, habits, half, streams, loaders, memory, profiled]

if __name__ == "__main__":
    chosen = [kind for kind in KINDS if sys.argv[1] == "all" or kind.__name__ in sys.argv[1:]]
    for kind in chosen:
        torch.manual_seed(20)
        kind()
    print("all good")
