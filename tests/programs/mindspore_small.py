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
    "gradient": (lambda a, b, c: ms.grad(lambda x: (ops.relu(x) * b).sum())(a), (A > 0) * B),
}

different = 0
for name, (compute, expected) in CASES.items():
    found = compute(*map(Tensor, (A, B, C))).asnumpy()
    alike = found.shape == np.shape(expected) and np.allclose(found, expected, rtol=2e-5, atol=2e-5)
    different += not alike
    print(name, "ok" if alike else f"differs: {found}", flush=True)
print(f"alike: {len(CASES) - different}, different: {different}", flush=True)
raise SystemExit(different != 0)
