# What the hook of `ascend-trace --python` adds to a step, as a ratio within one run: about half of the steps, by
# chance, are made with the hook taken out.
#
#   ascend-trace --python -- python scripts/hook_cost.py [--steps 400]
#
# The model is that of examples/train.py. Prints the fastest decile with and without the hook, and their ratio. Where other
# programs use the processors, that of the main thread's processor time is the one to look at.
import argparse
import importlib.util
import random
import statistics
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

import torch_npu

hooks = torch.nn.modules.module
optimizers = sys.modules["torch.optim.optimizer"]


class Switch:
    """Takes out what the hook has put in, and puts it back."""

    def __init__(self):
        function = torch.autograd.profiler.record_function
        places = [(function, "__enter__"), (function, "__exit__"), (torch.autograd, "backward"), (torch.autograd, "grad")]
        self.functions = [(place, name, getattr(place, name)) for place, name in places]
        if not all(hasattr(own, "__wrapped__") for _, _, own in self.functions):
            sys.exit("the hook is not there: run this under `ascend-trace --python`")
        tables = (
            hooks._global_forward_pre_hooks,
            hooks._global_forward_hooks,
            hooks._global_forward_hooks_always_called,
            optimizers._global_optimizer_post_hooks,
        )
        self.tables = [(table, dict(table)) for table in tables]

    def set(self, is_on):
        for place, name, own in self.functions:
            setattr(place, name, own if is_on else own.__wrapped__)
        for table, content in self.tables:
            table.clear()
            if is_on:
                table.update(content)


def example():
    path = Path(__file__).parent.parent / "examples" / "train.py"
    spec = importlib.util.spec_from_file_location("train", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    options = argparse.ArgumentParser(description="what the hook inside Python adds to a step")
    options.add_argument("--steps", type=int, default=400)
    options.add_argument("--batch", type=int, default=16)
    options = options.parse_args()

    train = example()
    model = train.Model(32).to("npu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    data = torch.randint(len(train.LETTERS), (options.batch, 33)).to("npu")

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data[:, :-1]).flatten(0, 1), data[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        torch.npu.synchronize()

    switch = Switch()
    # By whether the hook is in: how long steps took, and how much of the processor the main thread.
    times = {True: ([], []), False: ([], [])}
    chance = random.Random(1)
    for number in range(options.steps + 20):
        is_on = chance.random() < 0.5
        switch.set(is_on)
        begin, used = time.perf_counter(), time.thread_time()
        step()
        if number >= 20:
            took, cost = times[is_on]
            cost.append(time.thread_time() - used)
            took.append(time.perf_counter() - begin)
    switch.set(True)
    modules = sum(1 for _ in model.modules())
    print(f"{modules} modules, {options.steps} steps, about half of them without the hook; a tenth is faster")
    for place, what in enumerate(("step", "main thread's processor time")):
        with_hook, without = (statistics.quantiles(times[key][place], n=10)[0] for key in (True, False))
        share = 100 * (with_hook / without - 1)
        print(f"{what}: {with_hook * 1e3:.3f} ms with, {without * 1e3:.3f} ms without the hook: {share:+.2f} %")


main()
