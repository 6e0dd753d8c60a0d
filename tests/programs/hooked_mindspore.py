# Steps of each kind on the stand-in for MindSpore, with errors on the way.
import importlib.util
import sys
import traceback

# Some programs look for a package first, and import it later.
print(importlib.util.find_spec("mindspore").name, [name for name in sys.modules if "ascend" in name])

import mindspore
from mindspore import context, nn

print(type(mindspore.__spec__).__name__)
executor = mindspore.graph.api._pynative_executor


class Dense(nn.Cell):
    def construct(self, value):
        if value == "bad":
            raise ValueError("a bad value")
        return value


class Net(nn.Cell):
    pass


class TrainOneStep(nn.Cell):
    def construct(self, value):
        loss = self.network(value)
        self.optimizer(self.reducer(executor.grad(self.network, loss)))
        return loss


class Epoch(nn.Cell):
    """A cell that makes two steps in one call."""

    def construct(self, value):
        for _ in range(2):
            value = self.network(value)
            self.optimizer(executor.grad(self.network, value))
        return value


class Recomputed(nn.Cell):
    """A cell of a graph, with its optimizer in it."""

    def construct(self, value):
        return mindspore.graph.api._JitExecutor(TrainOneStep.construct, self)(value)


def told(action):
    try:
        action()
    except Exception as error:
        # Before 3.11 a frame that lets an error pass cannot be taken out.
        new = sys.version_info >= (3, 11)
        print(traceback.format_exc() if new else repr(error), flush=True)


mindspore._c_expression.RuntimeConf.blocks = True
net, optimizer = Net(fc1=Dense(), fc2=Dense()), nn.Optimizer()
# Steps 0 and 1: the program's own loop.
for value in mindspore.dataset.engine.iterators.Iterator(1, 2):
    optimizer(executor.grad(net, net(value)))
# Step 2, and step 3 in a graph.
trainer = TrainOneStep(network=net, optimizer=optimizer, reducer=nn.Cell())
print(trainer(3))
context.mode = context.GRAPH_MODE
print(trainer(4))
context.mode = mindspore.PYNATIVE_MODE
# Steps 4 and 5, and 6.
print(Epoch(network=net, optimizer=optimizer)(5))
print(Recomputed(network=net, optimizer=optimizer)(6))
# Step 7, of which only the step is known.
mindspore._c_expression.RuntimeConf.blocks = False
print(trainer(7))
mindspore._c_expression.RuntimeConf.blocks = True
# Steps 8 and 9 in graphs of the program, and 10 in a graph that was compiled before.


def by_global(value):
    return value


def by_private(value):
    return value


def reads(value):
    return value


by_global.calls, by_private.calls, reads.reads = [optimizer], [nn.Optimizer()], [optimizer]
by_private.calls[0].is_private = True
graphs = {it.__name__: mindspore.graph.api._JitExecutor(it) for it in (by_global, by_private, reads)}
told(lambda: graphs["by_global"](None))
print(graphs["by_global"](8), graphs["reads"](8))
mindspore._c_expression.RuntimeConf.blocks = False
print(graphs["by_global"](9), graphs["reads"](9))
mindspore._c_expression.RuntimeConf.blocks = True
# Another optimizer: two of its steps are one.
print(graphs["by_private"](10), graphs["by_private"](10), graphs["by_private"](11))
# None of these is a step.
told(lambda: net("bad"))
told(lambda: executor.grad(net, None))
told(lambda: optimizer(None))
print(mindspore.graph.api._JitExecutor(told)(7), nn.Cell.__call__.__name__, flush=True)
