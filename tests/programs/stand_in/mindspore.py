# As much of MindSpore's shape as the hook of `ascend-trace --python` looks at, for hosts without MindSpore.
import sys
import types


def module(name):
    made = sys.modules["mindspore." + name] = types.ModuleType("mindspore." + name)
    parent, _, last = ("mindspore." + name).rpartition(".")
    setattr(sys.modules[parent], last, made)
    return made


for name in ("_c_expression", "context", "dataset", "dataset.engine", "dataset.engine.iterators", "graph", "graph.api", "graph._parse", "graph._parse.parser", "nn", "nn.optim"):
    module(name)
module("nn.optim.optimizer")

PYNATIVE_MODE, GRAPH_MODE = 1, 0
context.GRAPH_MODE, context.mode = GRAPH_MODE, PYNATIVE_MODE
context._get_mode = lambda: context.mode


class RuntimeConf:
    blocks = False

    @classmethod
    def get_instance(cls):
        return cls

    @classmethod
    def is_launch_blocking(cls):
        return cls.blocks


_c_expression.RuntimeConf = RuntimeConf


class Cell:
    def __init__(self, **children):
        self._cells = children
        self.__dict__.update(children)

    def cells_and_names(self, cells=None, name_prefix=""):
        yield name_prefix, self
        for name, child in self._cells.items():
            yield from child.cells_and_names(cells, name_prefix + "." + name if name_prefix else name)

    def construct(self, value):
        for child in self._cells.values():
            value = child(value)
        return value

    def __call__(self, *args):
        if context.mode == GRAPH_MODE:
            return args[0]
        return self.construct(*args)


class Optimizer(Cell):
    is_private, learning_rate, _parameters = False, 0.1, ()

    def construct(self, gradients):
        if gradients is None:
            raise TypeError("no gradients")
        return True


class _PyNativeExecutor:
    def grad(self, function, value):
        if value is None:
            raise RuntimeError("nothing to go back from")
        return value


class Namespace:
    def __init__(self, *dicts):
        self.dicts = dicts


class Parser:
    def __init__(self, fn, parse_method=None):
        self.fn, self.global_namespace = fn, Namespace({"name": fn})


class _JitExecutor:
    """Runs a function. Its attributes have the optimizers that it calls, and those of which it reads something."""

    compiled = set()

    def __init__(self, fn, shard_parent_obj=None):
        self.fn, self.shard_parent_obj = fn, shard_parent_obj

    def __call__(self, *args):
        self.compile(self.fn.__name__, *args)
        return args[-1]

    def compile(self, method_name, *args):
        if method_name not in self.compiled:
            calls, reads = getattr(self.fn, "calls", ()), getattr(self.fn, "reads", ())
            for optimizer in (*calls, *reads):
                parser = graph._parse.parser.Parser(optimizer.construct)
                graph._parse.resolve_symbol(Namespace(optimizer), "learning_rate")
                if optimizer in calls:
                    graph._parse.resolve_symbol(*self.inside(optimizer, parser))
            if args[-1] is None:
                raise RuntimeError("no graph")
            self.compiled.add(method_name)
        return method_name

    def inside(self, optimizer, parser):
        return (Namespace(optimizer), "_parameters") if optimizer.is_private else (parser.global_namespace, "name")


class Iterator:
    def __init__(self, *items):
        self.items = list(items)

    def __iter__(self):
        return self

    def __next__(self):
        if not self.items:
            raise StopIteration
        return self.items.pop(0)


nn.Cell, nn.Optimizer, sys.modules["mindspore.nn.optim.optimizer"].Optimizer = Cell, Optimizer, Optimizer
graph._parse.parser.Parser, graph._parse.resolve_symbol = Parser, lambda namespace, name: None
graph.api._JitExecutor, graph.api._pynative_executor = _JitExecutor, _PyNativeExecutor()
dataset.engine.iterators.Iterator = Iterator
