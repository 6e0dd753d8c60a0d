# MindSpore on an NPU: operators that run one by one, compared with NumPy, and a gradient.
import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn, ops

ms.set_device("Ascend")
ms.set_context(mode=ms.PYNATIVE_MODE)

numbers = np.random.default_rng(0).standard_normal((2, 17, 33)).astype(np.float32)
A, B, C = numbers[0], numbers[1], np.ascontiguousarray(numbers[1].T)
CLASSES = np.arange(len(A), dtype=np.int32)
LOGITS = A - np.log(np.exp(A).sum(-1, keepdims=True))
SPREAD = np.sqrt(A.var(1, keepdims=True) + 1e-5)
NORMAL = (A - A.mean(1, keepdims=True)) / SPREAD
IMAGES = A[:16, :32].reshape(2, 2, 4, 2, 8, 2)


def dense(x):
    layer = nn.Dense(33, 5)
    layer.weight.set_data(Tensor(B[:5]))
    layer.bias.set_data(Tensor(B[5, :5]))
    return layer(x)


def images(x):
    return x[:16, :32].reshape(2, 2, 8, 16)


CASES = {
    "add": (lambda a, b, c: a + b, A + B),
    "sub": (lambda a, b, c: a - b, A - B),
    "mul": (lambda a, b, c: a * b, A * B),
    "matmul": (lambda a, b, c: ops.matmul(a, c), A @ C),
    "relu": (lambda a, b, c: ops.relu(a), np.maximum(A, 0)),
    "tanh": (lambda a, b, c: ops.tanh(a), np.tanh(A)),
    "exp": (lambda a, b, c: ops.exp(a), np.exp(A)),
    "sum": (lambda a, b, c: a.sum(), A.sum()),
    "mean": (lambda a, b, c: mint.mean(a, 0), A.mean(axis=0)),
    "transpose": (lambda a, b, c: ops.transpose(a, (1, 0)), A.T),
    "softmax": (lambda a, b, c: ops.softmax(a, -1), np.exp(A) / np.exp(A).sum(-1, keepdims=True)),
    "cross-entropy": (
        lambda a, b, c: nn.CrossEntropyLoss()(a, Tensor(CLASSES)),
        -LOGITS[CLASSES, CLASSES].mean(),
    ),
    # These are called by name, and their shapes and attributes go through the graph engine's factory.
    "dense": (lambda a, b, c: dense(a), A @ B[:5].T + B[5, :5]),
    "layer-norm": (lambda a, b, c: nn.LayerNorm((33,))(a), NORMAL),
    "mean-of-rows": (lambda a, b, c: a.mean(axis=1), A.mean(axis=1)),
    "bias": (lambda a, b, c: ops.bias_add(a, b[0]), A + B[0]),
    "one-hot": (lambda a, b, c: ops.one_hot(Tensor(CLASSES), 20, Tensor(1.0), Tensor(0.0)), np.eye(20)[CLASSES]),
    "largest": (lambda a, b, c: ops.topk(a, 3)[0], -np.sort(-A)[:, :3]),
    "max-pool": (lambda a, b, c: nn.MaxPool2d(2, 2)(images(a)), IMAGES.max((3, 5))),
    "max-pool-same": (lambda a, b, c: nn.MaxPool2d(2, 2, pad_mode="same")(images(a)), IMAGES.max((3, 5))),
    "mean-pool": (lambda a, b, c: nn.AvgPool2d(2, 2)(images(a)), IMAGES.mean((3, 5))),
    "gradient-of-dense": (
        lambda a, b, c: ms.grad(lambda x: (dense(x) * b[:, :5]).sum())(a),
        B[:, :5] @ B[:5],
    ),
    "gradient-of-norm": (
        lambda a, b, c: ms.grad(lambda x: (mint.nn.functional.layer_norm(x, (33,)) * b).sum())(a),
        (B - B.mean(1, keepdims=True) - NORMAL * (B * NORMAL).mean(1, keepdims=True)) / SPREAD,
    ),
    "gradient": (lambda a, b, c: ms.grad(lambda x: (ops.relu(x) * b).sum())(a), (A > 0) * B),
}

different = 0
# From the second time on, MindSpore runs operators that it has planned before, with tensors at other addresses.
for name, (compute, expected) in [*CASES.items(), *CASES.items(), *CASES.items()]:
    found = compute(*map(Tensor, (A, B, C))).asnumpy()
    alike = found.shape == np.shape(expected) and np.allclose(found, expected, rtol=2e-5, atol=2e-5)
    different += not alike
    print(name, "ok" if alike else f"differs: {found}", flush=True)
print(f"alike: {3 * len(CASES) - different}, different: {different}", flush=True)
raise SystemExit(different != 0)
