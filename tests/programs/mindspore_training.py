# MindSpore on an NPU: training with cells, by the way of a loop that the first word names. The program counts its steps and
# the calls of its cells, and compares its losses with those of NumPy.
import math
import os
import sys
import tempfile

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn

ms.set_device("Ascend")
ms.set_context(mode=ms.PYNATIVE_MODE)

numbers = np.random.default_rng(0)
ROWS = [numbers.standard_normal((8, width)).astype(np.float32) for width in (6, 3)]
INPUTS, TARGETS = map(Tensor, ROWS)
STEPS, RATE = 4, 0.1
calls = 0


class Net(nn.Cell):
    def __init__(self, linear):
        super().__init__()
        self.fc1, self.norm, self.fc2 = linear(6, 8), mint.nn.LayerNorm(8), linear(8, 3)

    def construct(self, x):
        global calls
        calls += 1
        return self.fc2(mint.nn.functional.gelu(self.norm(self.fc1(x))))


def made(linear):
    net = Net(linear)
    values = np.random.default_rng(1)
    for parameter in net.get_parameters():
        parameter.set_data(Tensor((0.3 * values.standard_normal(parameter.shape)).astype(np.float32)))
    return net


def expected():
    """The losses of the same net in NumPy, with gradients by differences."""
    values = np.random.default_rng(1)
    shapes = [(8, 6), (8,), (8,), (8,), (3, 8), (3,)]
    weights = [0.3 * values.standard_normal(shape) for shape in shapes]
    inputs, targets = (rows.astype(np.float64) for rows in ROWS)
    erf = np.vectorize(math.erf)

    def loss():
        one, shift, scale, offset, two, end = weights
        x = inputs @ one.T + shift
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + offset
        return (((0.5 * x * (1 + erf(x / math.sqrt(2)))) @ two.T + end - targets) ** 2).mean()

    def slope(weight, at):
        before, sides = weight[at], []
        for side in (1e-5, -1e-5):
            weight[at] = before + side
            sides.append(loss())
        weight[at] = before
        return (sides[0] - sides[1]) / 2e-5

    losses = []
    for _ in range(STEPS):
        losses.append(loss())
        slopes = [[slope(weight, at) for at in np.ndindex(weight.shape)] for weight in weights]
        for weight, found in zip(weights, slopes):
            weight -= RATE * np.reshape(found, weight.shape)
    return losses


def own_loop():
    net = made(mint.nn.Linear)
    optimizer = mint.optim.SGD(net.trainable_params(), lr=RATE)
    compute = ms.value_and_grad(lambda x, y: mint.nn.functional.mse_loss(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(STEPS):
        loss, gradients = compute(INPUTS, TARGETS)
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


def trainer():
    net = made(nn.Dense)
    loss = nn.WithLossCell(net, nn.MSELoss())
    train = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), RATE))
    train.set_train()
    return [float(train(INPUTS, TARGETS).asnumpy()) for _ in range(STEPS)]


def graph():
    ms.set_context(mode=ms.GRAPH_MODE, jit_level="O0")
    return trainer()


def jit():
    net = made(mint.nn.Linear)
    optimizer = mint.optim.SGD(net.trainable_params(), lr=RATE)

    def loss_of(x, y):
        return mint.nn.functional.mse_loss(net(x), y)

    compute = ms.value_and_grad(loss_of, None, optimizer.parameters)

    @ms.jit
    def train_step(x, y):
        loss, gradients = compute(x, y)
        optimizer(gradients)
        return loss

    @ms.jit
    def rate():
        return optimizer.lrs[0] * 2

    losses = []
    for _ in range(STEPS):
        losses.append(float(train_step(INPUTS, TARGETS).asnumpy()))
        rate()
    return losses


def model():
    net, losses = made(nn.Dense), []

    class Losses(ms.Callback):
        def step_end(self, run_context):
            losses.append(float(run_context.original_args().net_outputs.asnumpy()))

    data = ms.dataset.NumpySlicesDataset(tuple(ROWS), shuffle=False).batch(8)
    whole = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), RATE, 0.0))
    whole.train(STEPS, data, callbacks=[Losses()], dataset_sink_mode=False)
    return losses


if "blocking" in sys.argv:
    ms.runtime.launch_blocking()
losses = {"own_loop": own_loop, "trainer": trainer, "graph": graph, "jit": jit, "model": model}[sys.argv[1]]()
alike = np.allclose(losses, expected(), rtol=1e-4)
print([f"{loss:.4f}" for loss in losses], "ok" if alike else "differs", flush=True)
# MindSpore writes what it knows of the error into the current folder.
before = os.getcwd()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    try:
        made(mint.nn.Linear)(Tensor(np.ones((2, 5), np.float32))).asnumpy()
    except Exception as error:
        print(type(error).__name__, str(error).strip().split("\n")[0])
    os.chdir(before)
print(f"steps: {len(losses)}, calls: {calls}", flush=True)
