# Three steps of a loop on the stand-in for torch, errors on the way, and a worker that fetches.
import importlib.util
import os
import sys
import traceback

import sitecustomize

print(sitecustomize.MARK)
print([entry for entry in sys.path if "ascend" in entry], [name for name in sys.modules if "ascend" in name])
# Some programs look for a package first, and import it later.
print(importlib.util.find_spec("torch").name)

import torch

print(type(torch.__spec__).__name__)


class Linear(torch.nn.Module):
    def forward(self, value):
        if value == "bad":
            raise ValueError("a bad value")
        return value


class Model(torch.nn.Module):
    pass


class Unhashable(Linear):
    def __eq__(self, other):
        raise TypeError("these are not compared")

    __hash__ = None


class Loader(torch.utils.data.dataloader._BaseDataLoaderIter):
    fetcher = torch.utils.data._utils.fetch._MapDatasetFetcher()
    left = 3

    def next(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.fetcher.fetch(self.left)

    def __iter__(self):
        return self


def told(action):
    try:
        action()
    except Exception as error:
        # Before 3.11 a frame that lets an error pass cannot be taken out.
        new = sys.version_info >= (3, 11)
        print(traceback.format_exc() if new else repr(error), flush=True)


model, optimizer, other = Model(layer=Linear(), head=Unhashable()), torch.optim.Optimizer(), torch.optim.Optimizer()
for value in Loader():
    with torch.autograd.profiler.record_function("my range"):
        print(model(value))
    torch.autograd.backward(value)
    optimizer.step()
    other.step()
told(lambda: model("bad"))
told(lambda: torch.autograd.backward(None))
told(lambda: Loader.fetcher.fetch(-1))
print(model("good"), torch.autograd.backward.__name__, flush=True)
if not (child := os.fork()):
    torch.utils.data.worker = type("Info", (), {"id": 4})
    Loader.fetcher.fetch(1)
    os._exit(0)
os.waitpid(child, 0)
