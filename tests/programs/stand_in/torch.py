# As much of torch's shape as the hook of `ascend-trace --python` looks at, for hosts without torch.
import sys
import types

if "broken" in sys.argv:
    raise ValueError("this torch is broken")


def module(name):
    made = sys.modules["torch." + name] = types.ModuleType("torch." + name)
    parent, _, last = ("torch." + name).rpartition(".")
    setattr(sys.modules[parent], last, made)
    return made


_C = types.SimpleNamespace(_get_tracing_state=lambda: None)
for name in ("autograd", "autograd.profiler", "nn", "nn.modules", "nn.modules.module", "optim", "utils"):
    module(name)
for name in ("utils.data", "utils.data.dataloader", "utils.data._utils", "utils.data._utils.fetch", "optim.optimizer"):
    module(name)
del optim.optimizer


class record_function:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


autograd.profiler.record_function = record_function


def backward(value):
    if value is None:
        raise RuntimeError("nothing to go back from")


autograd.backward = autograd.grad = backward

before, after = [], []
nn.modules.module.register_module_forward_pre_hook = before.append


def register_module_forward_hook(hook, *, always_call=False):
    assert always_call
    after.append(hook)


nn.modules.module.register_module_forward_hook = register_module_forward_hook


class Module:
    def __init__(self, **children):
        self.__dict__.update(children)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self.__dict__.items():
            yield from child.named_modules(prefix + "." + name if prefix else name)

    def forward(self, value):
        for child in self.__dict__.values():
            value = child(value)
        return value

    def __call__(self, value):
        result = None
        for hook in before:
            hook(self, (value,))
        try:
            result = self.forward(value)
            return result
        finally:
            for hook in after:
                hook(self, (value,), result)


nn.Module = Module

stepped = []
sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook = stepped.append


class Optimizer:
    def step(self):
        with record_function("Optimizer.step#Optimizer.step"):
            for hook in stepped:
                hook(self, (), {})


optim.Optimizer = Optimizer


class _MapDatasetFetcher:
    def fetch(self, index):
        if index < 0:
            raise IndexError("no such item")
        return index


class _IterableDatasetFetcher(_MapDatasetFetcher):
    pass


utils.data._utils.fetch._MapDatasetFetcher = _MapDatasetFetcher
utils.data._utils.fetch._IterableDatasetFetcher = _IterableDatasetFetcher
utils.data.worker = None
utils.data.get_worker_info = lambda: utils.data.worker


class _BaseDataLoaderIter:
    def __next__(self):
        with autograd.profiler.record_function("enumerate(DataLoader)#stand_in.__next__"):
            return self.next()


utils.data.dataloader._BaseDataLoaderIter = _BaseDataLoaderIter
