# Operators of PyTorch on an NPU against the same on the CPU, with random shapes, layouts and types, gradients included.
# Arguments: words that a case's name must contain. Prints the cases that differ, and how many were alike.
import itertools
import math
import random
import sys

import torch
import torch.nn.functional as F
import torch_npu

NPU = torch.device("npu:0")
FLOAT = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
WIDE = [torch.float32, torch.float64]
HALVES = (torch.float16, torch.bfloat16)
INT = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
NUMBER = FLOAT + INT
ANY = NUMBER + [torch.bool]
F32 = [torch.float32]
I64 = [torch.int64]

# How far results may be apart, by type: relative to the larger one, and absolute.
TOLERANCE = {
    torch.float64: (1e-9, 1e-10),
    torch.float32: (2e-5, 2e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (2e-2, 2e-2),
}


def made(shape, dtype, low=-3.0, high=3.0):
    """A tensor of random elements; integers lie in the same range, truth values are even."""
    if dtype is torch.bool:
        return torch.rand(shape) < 0.5
    if dtype.is_floating_point:
        # Few digits, so that types with few of them hold the same numbers.
        return (torch.rand(shape, dtype=torch.float64) * (high - low) + low).mul(64).round().div(64).to(dtype)
    low = max(low, 0) if dtype is torch.uint8 else low
    return torch.randint(math.ceil(low), math.floor(high) + 1, shape).to(dtype)


def layouts(rank):
    """Ways to lay a tensor out: what makes a larger base, and the view of it that has the shape."""
    yield lambda shape: shape, lambda base: base
    if rank >= 1:
        yield lambda shape: (shape[0] * 2 + 1, *shape[1:]), lambda base: base[1::2]
        yield lambda shape: (*shape[:-1], shape[-1] + 3), lambda base: base[..., 2:-1]
    if rank >= 2:
        order = list(range(rank))
        random.shuffle(order)
        back = [order.index(dimension) for dimension in range(rank)]
        yield lambda shape: [shape[dimension] for dimension in order], lambda base: base.permute(back)


class Given:
    """An argument: a shape, and what its elements are like."""

    def __init__(self, *shape, low=-3.0, high=3.0, dtype=None, grad=True):
        self.shape, self.low, self.high, self.dtype, self.grad = list(shape), low, high, dtype, grad

    def pair(self, dtype, plain):
        dtype = self.dtype or dtype
        ways = list(layouts(len(self.shape)))
        base, view = ways[0] if plain else random.choice(ways)
        cpu = made(base(self.shape), dtype, self.low, self.high)
        npu = cpu.to(NPU)
        return view(cpu), view(npu)


def given(argument):
    return argument if isinstance(argument, Given) else Given(*argument)


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for item in result for tensor in flat(item)]
    return []


def difference(name, expected, found):
    if expected.dtype != found.dtype:
        return f"{name}: type {found.dtype}, not {expected.dtype}"
    if expected.shape != found.shape:
        return f"{name}: shape {tuple(found.shape)}, not {tuple(expected.shape)}"
    found = found.cpu()
    if not expected.dtype.is_floating_point:
        wrong = expected != found
    else:
        relative, absolute = TOLERANCE[expected.dtype]
        a, b = expected.double(), found.double()
        same = (a == b) | (a.isnan() & b.isnan())
        wrong = ~(same | ((a - b).abs() <= absolute + relative * a.abs()))
    if wrong.any():
        at = tuple(wrong.nonzero()[0].tolist())
        return f"{name} at {at}: {found[at].item()}, not {expected[at].item()} ({int(wrong.sum())} of {wrong.numel()})"
    return None


def run(function, tensors, grads):
    tensors = [tensor.detach() for tensor in tensors]
    for tensor, grad in zip(tensors, grads):
        if grad and tensor.dtype.is_floating_point:
            tensor.requires_grad_(True)
    results = flat(function(*tensors))
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    outputs = [result for result in results if result.requires_grad]
    if not wanted or not outputs:
        return [result.detach() for result in results], []
    # Every element counts differently, so that a gradient in the wrong place shows.
    total = sum((output * weights(output)).sum() for output in outputs)
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    return [result.detach() for result in results], [grad for grad in found if grad is not None]


def weights(output):
    count = torch.arange(output.numel(), dtype=torch.float32).remainder(7).sub(3).div(4)
    return count.reshape(output.shape).to(output.dtype).to(output.device)


def check(function, arguments, dtype, grad, plain):
    arguments = [given(argument) for argument in arguments]
    pairs = [argument.pair(dtype, plain) for argument in arguments]
    grads = [grad and argument.grad for argument in arguments]
    widened = [cpu.float() if cpu.dtype in HALVES else cpu for cpu, _ in pairs]
    # Types of few digits are compared with what a type of more digits gives, rounded once.
    torch.manual_seed(0)
    expected, expected_grads = run(function, widened, grads)
    torch.manual_seed(0)
    found, found_grads = run(function, [npu for _, npu in pairs], grads)

    def rounded(tensors, like):
        return [a.to(b.dtype) if b.dtype in HALVES and a.dtype is torch.float32 else a for a, b in zip(tensors, like)]

    expected, expected_grads = rounded(expected, found), rounded(expected_grads, found_grads)
    if len(expected) != len(found) or len(expected_grads) != len(found_grads):
        return "another number of results"
    for index, (a, b) in enumerate(zip(expected, found)):
        if wrong := difference(f"result {index}", a, b):
            return wrong
    for index, (a, b) in enumerate(zip(expected_grads, found_grads)):
        if wrong := difference(f"gradient {index}", a, b):
            return wrong
    return None


CASES = []


def case(name, function, *arguments, dtypes=FLOAT, grad=True):
    CASES.append((name, function, arguments, dtypes, grad))


def near(*shape, **rest):
    return Given(*shape, **rest)


POSITIVE = dict(low=0.25, high=4.0)
UNIT = dict(low=-0.9, high=0.9)
SHARE = dict(low=0.1, high=0.9)

# One tensor, element by element.
for name in "abs asinh atan ceil cos cosh erf erfc exp exp2 expm1 floor neg round sigmoid sign sin sinh sinc square tanh trunc frac positive".split():
    case(name, getattr(torch, name), near(4, 5))
for name in "log log10 log1p log2 rsqrt sqrt reciprocal acosh".split():
    case(name, getattr(torch, name), near(3, 4, 2, low=1.25 if name == "acosh" else 0.25, high=4.0))
for name in "acos asin atanh erfinv tan".split():
    case(name, getattr(torch, name), near(7, 3, **UNIT), dtypes=WIDE)
for name in "abs neg sign square positive".split():
    case(f"{name} of integers", getattr(torch, name), near(4, 5), dtypes=INT)
for name in "exp sqrt sin tanh reciprocal sigmoid log".split():
    case(f"{name} of integers", getattr(torch, name), near(4, 5, low=1.0, high=4.0), dtypes=I64 + [torch.bool])
case("scalar", lambda x: (x * 2 + 1).tanh(), near())
case("bitwise_not", torch.bitwise_not, near(9), dtypes=INT + [torch.bool])
case("logical_not", torch.logical_not, near(3, 3), dtypes=ANY)
case("isnan", lambda x: torch.isnan(x / x.floor()), near(5, 6), grad=False)
case("isinf", lambda x: torch.isinf(1 / x.floor()), near(5, 6), grad=False)
case("isfinite", lambda x: torch.isfinite(1 / x.floor()), near(5, 6), grad=False)
case("nan_to_num", lambda x: torch.nan_to_num(x.floor() / x.floor()), near(5, 6), grad=False)
case("signbit", torch.signbit, near(4, 4), grad=False)
case("round decimals", lambda x: torch.round(x, decimals=1), near(4, 4), dtypes=WIDE, grad=False)
case("in place", lambda x: x.clone().exp_().add_(1).mul_(2).sub_(0.5).div_(3).sqrt_().neg_(), near(4, 4), grad=False)
case("logit crossed", lambda x: torch.logit(x, eps=0.6), near(4, 4, **SHARE), dtypes=F32, grad=False)
case("logit", lambda x: torch.logit(x, eps=0.05), near(4, 4, **SHARE), dtypes=WIDE)

# Activations.
for name in "relu gelu silu elu selu celu leaky_relu softplus hardtanh relu6 hardswish mish logsigmoid softsign tanhshrink hardshrink softshrink".split():
    case(name, getattr(F, name), near(4, 6))
case("hardsigmoid", F.hardsigmoid, near(4, 6), dtypes=FLOAT[:3])
case("threshold", lambda x: F.threshold(x, 0.5, 2.0), near(4, 6))
case("glu", lambda x: F.glu(x, 1), near(4, 6))
case("prelu", F.prelu, near(2, 3, 4), near(3))
case("prelu scalar", F.prelu, near(), near(1))
case("softmax", lambda x: F.softmax(x, -1), near(2, 3, 5))
case("softmax 0", lambda x: F.softmax(x, 0), near(4, 3))
case("log_softmax", lambda x: F.log_softmax(x, 1), near(4, 5, 2))
case("softmin", lambda x: F.softmin(x, 1), near(4, 5))
case("softmax to float", lambda x: F.softmax(x, -1, dtype=torch.float32), near(3, 5), dtypes=FLOAT[:3])

# Two tensors.
BOTH = [((4, 5), (4, 5)), ((4, 1, 3), (5, 1)), ((), (3,)), ((2, 3), ())]
for a, b in BOTH:
    for name in "add sub mul maximum minimum".split():
        case(f"{name} {a} {b}", getattr(torch, name), a, b, dtypes=FLOAT + INT)
    for name in "eq ne gt ge lt le logical_and logical_or logical_xor".split():
        case(f"{name} {a} {b}", getattr(torch, name), a, b, dtypes=ANY, grad=False)
    case(f"div {a} {b}", torch.div, a, near(*b, **POSITIVE), dtypes=FLOAT)
    case(f"div of integers {a} {b}", torch.div, a, near(*b, low=1.0), dtypes=INT)
case("true divide int float", lambda a, b: a / b, near(4), near(4, dtype=torch.int64, low=1.0), dtypes=F32)
case("mixed types", lambda a, b, c: a + b * c, near(4), near(4, dtype=torch.float16), near(4, dtype=torch.int32), dtypes=F32, grad=False)
case("int plus float scalar", lambda x: x + 0.5, near(4), dtypes=INT)
case("bool plus int", lambda x: x + 2, near(5), dtypes=[torch.bool])
case("bool times float", lambda x: x * 0.5, near(5), dtypes=[torch.bool])
case("add of bool", torch.add, near(5), near(5), dtypes=[torch.bool])
case("mul of bool", torch.mul, near(5), near(5), dtypes=[torch.bool])
for mode in ("floor", "trunc"):
    case(f"div {mode}", lambda a, b, mode=mode: torch.div(a, b, rounding_mode=mode), near(6, 5), near(6, 5, low=1.0), dtypes=WIDE + INT, grad=False)
    case(f"div by number {mode}", lambda a, mode=mode: torch.div(a, 2, rounding_mode=mode), near(6, 5), dtypes=WIDE + INT, grad=False)
case("floor_divide", lambda a, b: a // b, near(6, 5), near(6, 5, low=1.0), dtypes=WIDE + INT, grad=False)
case("floor_divide number", lambda a: a // 2, near(6, 5), dtypes=WIDE + INT, grad=False)
case("remainder", torch.remainder, near(6, 5), near(6, 5, low=1.0), dtypes=WIDE + INT, grad=False)
case("remainder number", lambda a: a % 2, near(6, 5), dtypes=WIDE + INT, grad=False)
case("fmod", torch.fmod, near(6, 5), near(6, 5, low=1.0), dtypes=WIDE + [torch.int64, torch.int32], grad=False)
case("fmod number", lambda a: torch.fmod(a, 2), near(6, 5), dtypes=WIDE + [torch.int64, torch.int32], grad=False)
case("pow", torch.pow, near(4, 4, **POSITIVE), near(4, 4), dtypes=WIDE)
case("pow of integers", torch.pow, near(4, 4), near(4, 4, low=0.0), dtypes=[torch.int64, torch.int32])
for exponent in (0, 1, 2, 3, 0.5, -1, -2, 1.7):
    case(f"pow {exponent}", lambda x, e=exponent: x**e, near(4, 4, **POSITIVE), dtypes=FLOAT)
case("pow 2 of integers", lambda x: x**2, near(4, 4), dtypes=[torch.int64, torch.int32])
case("number to the power", lambda x: 2**x, near(4, 4), dtypes=FLOAT)
case("atan2", torch.atan2, near(4, 4), near(4, 4))
case("logaddexp", torch.logaddexp, near(4, 4), near(4, 4), dtypes=WIDE)
case("xlogy", torch.xlogy, near(4, 4), near(4, 4, **POSITIVE), dtypes=WIDE)
case("left_shift", lambda x: x << 2, near(9), dtypes=[torch.int32, torch.int64])
case("shifts", lambda x, n: [torch.bitwise_left_shift(x, n), torch.bitwise_right_shift(x, n), torch.bitwise_left_shift(x, 3), x >> 1], near(9), near(9, low=0.0, high=5.0), dtypes=[torch.int32, torch.int64])
for name in "bitwise_and bitwise_or bitwise_xor".split():
    case(name, getattr(torch, name), near(4, 4), near(4, 4), dtypes=INT + [torch.bool])
    case(f"{name} number", lambda x, name=name: getattr(torch, name)(x, 3), near(4, 4), dtypes=INT)
for name, sign in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="), ("eq", "=="), ("ne", "!=")):
    case(f"{name} number", lambda x, name=name: getattr(torch, name)(x, 1), near(4, 4), dtypes=ANY, grad=False)
    case(f"{name} fraction", lambda x, name=name: getattr(torch, name)(x, 0.5), near(4, 4), dtypes=NUMBER, grad=False)
case("gt a number that is rounded", lambda x: (x * 0 + 0.1) > 0.1, near(4), grad=False)
case("rsub", lambda x: 3 - x, near(4, 4), dtypes=FLOAT + [torch.int64, torch.int32])
case("rdiv", lambda x: 3 / x, near(4, 4, **POSITIVE))
case("add alpha", lambda a, b: torch.add(a, b, alpha=0.5), near(4, 4), near(4, 4))
case("sub alpha", lambda a, b: torch.sub(a, b, alpha=2), near(4, 4), near(4, 4), dtypes=FLOAT + [torch.int64])
case("clamp", lambda x: x.clamp(-1, 1), near(5, 5), dtypes=FLOAT + [torch.int64, torch.int32])
case("clamp min", lambda x: x.clamp(min=0), near(5, 5), dtypes=FLOAT + [torch.int64])
case("clamp max", lambda x: x.clamp(max=0.5), near(5, 5))
case("clamp tensors", lambda x, a: torch.clamp(x, -a.abs(), a.abs()), near(5, 5), near(5, grad=False), dtypes=WIDE, grad=False)
case("clamp least of a tensor", lambda x, a: torch.clamp(x, min=a), near(5, 5), near(5), dtypes=WIDE + I64, grad=False)
case("clamp most of a tensor", lambda x, a: torch.clamp(x, max=a), near(5, 5), near(5, 1), dtypes=WIDE + I64, grad=False)
case("angle", torch.angle, near(4, 4), dtypes=F32, grad=False)
case("logspace", lambda x: torch.logspace(-1, 2, 7, base=3, device=x.device) + x, near(7), dtypes=F32, grad=False)
case("addcmul", lambda x, a, b: torch.addcmul(x, a, b, value=0.5), near(4, 4), near(4, 4), near(4, 4))
case("addcdiv", lambda x, a, b: torch.addcdiv(x, a, b, value=0.5), near(4, 4), near(4, 4), near(4, 4, **POSITIVE))
case("lerp", torch.lerp, near(4, 4), near(4, 4), near(4, 4), dtypes=WIDE)
case("lerp number", lambda a, b: torch.lerp(a, b, 0.3), near(4, 4), near(4, 4))
case("where", lambda c, a, b: torch.where(c, a, b), near(4, 4, dtype=torch.bool), near(4, 4), near(4), dtypes=NUMBER)
case("where number", lambda x: torch.where(x > 0, x, -1.0), near(4, 4))
case("masked_fill", lambda x, m: x.masked_fill(m, -2.5), near(4, 4), near(4, 4, dtype=torch.bool))
case("masked_fill of integers", lambda x, m: x.masked_fill(m, -2), near(4, 4), near(4, dtype=torch.bool), dtypes=INT[:4])
case("isclose", lambda a, b: torch.isclose(a, b, atol=1.0), near(5, 5), near(5, 5), dtypes=F32, grad=False)
case("allclose", lambda a: torch.tensor(torch.allclose(a, a + 1e-9)), near(5, 5), dtypes=F32, grad=False)
case("equal", lambda a: torch.tensor([torch.equal(a, a.clone()), torch.equal(a, a + 1)]), near(5, 5), dtypes=F32, grad=False)

# Copies and types.
# A conversion to 64 bits of floating point gives 32 on this device.
for to in [dtype for dtype in ANY if dtype is not torch.float64]:
    case(f"to {to}", lambda x, to=to: x.to(to), near(4, 5), dtypes=ANY, grad=False)
case("clone", torch.clone, near(3, 4, 5), dtypes=ANY)
case("contiguous", lambda x: x.transpose(0, 2).contiguous(), near(3, 4, 5), dtypes=ANY)
case("copy into a view", lambda x, y: x.clone()[:, 1:3].copy_(y).clone(), near(4, 5), near(4, 2), grad=False)
case("fill", lambda x: x.clone().fill_(3), near(4, 5), dtypes=ANY, grad=False)
case("zero", lambda x: x.clone().zero_(), near(4, 5), dtypes=ANY, grad=False)
case("zeros_like", lambda x: (torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 2)), near(4, 5), dtypes=NUMBER, grad=False)
case("set items", lambda x: [y := x.clone(), y.__setitem__((slice(None), 0), 1)], near(4, 5), dtypes=NUMBER, grad=False)
case("expand", lambda x: x.expand(3, 4, 5) + 1, near(4, 1))
case("reshape", lambda x: x.reshape(5, -1).t().flatten() * 2, near(4, 5))
case("unfold", lambda x: x.unfold(1, 3, 2), near(4, 9))

# Sums and the like.
for keep in (False, True):
    for dim in (None, 0, -1, (0, 2)):
        for name in "sum mean amax amin".split():
            if dim is None and name.startswith("am"):
                continue
            words = dict(dim=dim, keepdim=keep) if dim is not None else {}
            case(f"{name} {dim} {keep}", lambda x, name=name, words=words: getattr(torch, name)(x, **words), near(3, 4, 5), grad=name not in ("amax", "amin"))
for name in "sum prod max min".split():
    case(f"{name} of integers", getattr(torch, name), near(3, 4), dtypes=INT[:4], grad=False)
for name in "max min".split():
    case(f"{name} of all", getattr(torch, name), near(4, 5), grad=False)
    case(f"{name} along", lambda x, name=name: getattr(torch, name)(x, 1), near(4, 5), dtypes=WIDE + [torch.int64], grad=True)
    case(f"arg{name}", lambda x, name=name: getattr(torch, "arg" + name)(x, dim=1), near(4, 5), dtypes=FLOAT + [torch.int64], grad=False)
    case(f"arg{name} of all", getattr(torch, "arg" + name), near(4, 5), grad=False)
    case(f"cum{name}", lambda x, name=name: getattr(torch, "cum" + name)(x, 1), near(4, 5), dtypes=WIDE, grad=False)
case("sum of nothing", lambda x: x[:0].sum(0), near(4, 5))
case("sum to type", lambda x: x.sum(dtype=torch.float32), near(4, 5), dtypes=[torch.float16, torch.int64], grad=False)
case("sum of bool", torch.sum, near(4, 5), dtypes=[torch.bool])
case("prod", lambda x: torch.prod(x, 1), near(4, 3), dtypes=WIDE)
case("all", lambda x: (x.all(), x.all(1)), near(4, 3), dtypes=ANY, grad=False)
case("any", lambda x: (x.any(), x.any(1)), near(4, 3), dtypes=ANY, grad=False)
case("var", lambda x: (x.var(), x.var(1), x.var(1, unbiased=False)), near(4, 5))
case("std", lambda x: (x.std(), x.std(1, keepdim=True)), near(4, 5))
case("var_mean", lambda x: torch.var_mean(x, 1), near(4, 5))
case("std_mean", lambda x: torch.std_mean(x, 1), near(4, 5))
case("logsumexp", lambda x: torch.logsumexp(x, 1), near(4, 5))
case("cumsum", lambda x: torch.cumsum(x, 1), near(4, 5), dtypes=FLOAT + [torch.int64, torch.int32])
case("cumprod", lambda x: torch.cumprod(x, 1), near(4, 4, **POSITIVE), dtypes=WIDE)
for order in (1, 2, 3, math.inf):
    case(f"norm {order}", lambda x, order=order: torch.linalg.vector_norm(x, order), near(4, 5, **POSITIVE), grad=order == 2)
case("norm", lambda x: (x.norm(), x.norm(dim=1), x.norm(p=1)), near(4, 5), grad=False)
case("normalize", lambda x: F.normalize(x, dim=1), near(4, 5))
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b), near(4, 5), near(4, 5), dtypes=WIDE)
case("median", lambda x: (x.median(), *x.median(1)), near(5, 5), dtypes=F32, grad=False)
case("kthvalue", lambda x: x.kthvalue(2, 1)[0], near(5, 5), dtypes=F32, grad=False)
case("count_nonzero", lambda x: torch.count_nonzero(x), near(5, 5), dtypes=F32 + I64, grad=False)
for along in (0, 1):
    case(f"unique along {along}", lambda x, along=along: torch.unique(x.floor() if x.is_floating_point() else x, dim=along, return_inverse=True, return_counts=True), near(4, 6, 1, low=0.0, high=1.5), dtypes=F32 + I64, grad=False)
case("trace", torch.trace, near(4, 5), dtypes=F32, grad=False)

# Matrices.
case("mm", torch.mm, near(4, 5), near(5, 3))
case("mm of int", torch.mm, near(4, 5), near(5, 3), dtypes=[torch.int32], grad=False)
case("matmul vector", torch.matmul, near(4, 5), near(5))
case("matmul batch", torch.matmul, near(2, 4, 5), near(5, 3))
case("matmul batches", torch.matmul, near(2, 1, 4, 5), near(3, 5, 2))
case("bmm", torch.bmm, near(3, 4, 5), near(3, 5, 2))
case("dot", torch.dot, near(7), near(7))
case("mv", torch.mv, near(4, 5), near(5))
case("addmm", lambda x, a, b: torch.addmm(x, a, b, beta=0.5, alpha=2), near(3), near(4, 5), near(5, 3))
case("baddbmm", lambda x, a, b: torch.baddbmm(x, a, b, beta=0.5, alpha=2), near(2, 4, 3), near(2, 4, 5), near(2, 5, 3))
case("addbmm", torch.addbmm, near(4, 3), near(2, 4, 5), near(2, 5, 3), dtypes=WIDE)
case("addmv", torch.addmv, near(4), near(4, 5), near(5), dtypes=WIDE)
case("addr", torch.addr, near(4, 3), near(4), near(3), dtypes=WIDE)
case("outer", torch.outer, near(4), near(3))
case("einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b), near(2, 3, 4), near(2, 5, 4))
def square(x):
    return x + 8 * torch.eye(x.shape[-1], device=x.device)


case("inverse", lambda x: torch.inverse(square(x)), near(2, 4, 4), dtypes=F32)
case("solve_triangular", lambda x, b: torch.linalg.solve_triangular(square(x).triu(), b, upper=True), near(4, 4), near(4, 2), dtypes=F32)
case("solve_triangular lower", lambda x, b: torch.linalg.solve_triangular(square(x).tril(), b, upper=False), near(2, 4, 4), near(2, 4, 3), dtypes=F32)
case("cross", torch.linalg.cross, near(4, 3), near(4, 3), dtypes=F32)
# torch_npu has its gradient of tensors without gaps only.
case("cdist", lambda a, b: torch.cdist(a.contiguous(), b.contiguous()), near(2, 4, 5), near(2, 3, 5), dtypes=F32)
case("cdist of sums", lambda a, b: torch.cdist(a.contiguous(), b.contiguous(), p=1.0), near(4, 5), near(3, 5), dtypes=F32)
case("renorm", lambda x: x.renorm(2, 0, 1.0), near(4, 5), dtypes=F32, grad=False)
case("linear", F.linear, near(2, 3, 5), near(4, 5), near(4))
case("linear without bias", F.linear, near(6, 5), near(4, 5))
case("bilinear", F.bilinear, near(3, 4), near(3, 5), near(2, 4, 5), dtypes=F32)

# Shapes.
case("cat", lambda a, b: torch.cat([a, b, a], 1), near(3, 2), near(3, 4), dtypes=ANY)
case("cat of types", lambda a, b: torch.cat([a, b]), near(3, 2), near(1, 2, dtype=torch.float64), dtypes=F32, grad=False)
case("stack", lambda a, b: torch.stack([a, b], 1), near(3, 2), near(3, 2), dtypes=NUMBER)
case("hstack", lambda a, b: torch.hstack([a, b]), near(3, 2), near(3, 4))
case("split", lambda x: [part * 2 for part in x.split([1, 3, 2], 1)], near(3, 6))
case("chunk", lambda x: [part + 1 for part in x.chunk(3, 0)], near(6, 2))
case("pad", lambda x: F.pad(x, (1, 2, 0, 3), value=1.5), near(3, 4))
case("pad negative", lambda x: F.pad(x, (-1, 2)), near(3, 4))
for mode in ("reflect", "replicate"):
    case(f"pad {mode}", lambda x, mode=mode: F.pad(x, (1, 2, 2, 1), mode=mode), near(2, 3, 5, 6))
    case(f"pad 1d {mode}", lambda x, mode=mode: F.pad(x, (1, 2), mode=mode), near(2, 3, 5))
case("flip", lambda x: x.flip(0, 2), near(3, 4, 2), dtypes=ANY)
case("roll", lambda x: (x.roll(2), x.roll((1, -1), (0, 1))), near(3, 4), dtypes=NUMBER)
case("repeat", lambda x: x.repeat(2, 3, 1), near(3, 2))
case("tile", lambda x: x.tile(2), near(3, 2))
case("repeat_interleave", lambda x: (x.repeat_interleave(2), x.repeat_interleave(3, 1)), near(3, 2))
case("tril", lambda x: (x.tril(), x.tril(1), x.tril(-1)), near(2, 4, 5), dtypes=ANY)
case("triu", lambda x: (x.triu(), x.triu(1)), near(4, 5), dtypes=NUMBER)
case("diagonal", lambda x: x.diagonal() * 2, near(4, 5))
case("rot90", lambda x: torch.rot90(x), near(4, 5))
case("fill_diagonal", lambda x: x.clone().fill_diagonal_(7), near(4, 5), dtypes=F32, grad=False)
case("meshgrid", lambda a, b: [x * 1 for x in torch.meshgrid(a, b, indexing="ij")], near(3), near(4))
for dtype in (torch.float32, torch.int64, torch.float16, torch.int32):
    case(f"arange {dtype}", lambda x, t=dtype: (torch.arange(7, dtype=t, device=x.device), torch.arange(2, 9, 3, dtype=t, device=x.device)), near(1), dtypes=F32, grad=False)
    case(f"full {dtype}", lambda x, t=dtype: (torch.full((2, 3), 3, dtype=t, device=x.device), torch.zeros(4, dtype=t, device=x.device), torch.ones(4, dtype=t, device=x.device)), near(1), dtypes=F32, grad=False)
case("arange fraction", lambda x: torch.arange(0, 1, 0.1, device=x.device), near(1), dtypes=F32, grad=False)
case("linspace", lambda x: torch.linspace(-1, 2, 7, device=x.device), near(1), dtypes=F32, grad=False)
case("eye", lambda x: (torch.eye(3, device=x.device), torch.eye(3, 5, device=x.device)), near(1), dtypes=F32, grad=False)
case("tril_mask", lambda x: torch.tril(torch.ones(5, 5, device=x.device, dtype=torch.bool)), near(1), dtypes=F32, grad=False)
case("one_hot", lambda x: F.one_hot(x, 5), near(4, 3, low=0, high=4), dtypes=I64)

# Indices.
ROWS = near(3, 4, low=0, high=5, dtype=torch.int64)
case("index_select", lambda x, i: x.index_select(0, i), near(6, 4), near(5, low=0, high=5, dtype=torch.int64), dtypes=NUMBER)
case("gather", lambda x, i: x.gather(0, i), near(6, 4), ROWS, dtypes=FLOAT + [torch.int64])
case("scatter", lambda x, i, s: x.scatter(1, i.argsort(1), s), near(6, 4), near(6, 4, dtype=torch.float32, grad=False), near(6, 4), dtypes=WIDE)
case("gather of a number", lambda x: x.gather(0, torch.zeros(1, dtype=torch.int64, device=x.device)), near())
case("unfold of a number", lambda x: x.unfold(0, 1, 1), near())
case("unpool 3d", lambda x: F.max_unpool3d(x, torch.tensor([3, 7], device=x.device).view(1, 2, 1, 1, 1), 2), near(1, 2, 1, 1, 1), dtypes=F32)
case("scatter number", lambda x, i: x.scatter(0, i, 1.5), near(6, 4), ROWS, dtypes=FLOAT, grad=False)
case("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), near(6, 4), ROWS, near(3, 4))
case("index_add", lambda x, i, s: x.index_add(0, i, s, alpha=2), near(6, 4), near(5, low=0, high=5, dtype=torch.int64), near(5, 4))
case("index_copy", lambda x, s: x.index_copy(0, torch.tensor([3, 0], device=x.device), s), near(6, 4), near(2, 4), grad=False)
case("index_fill", lambda x: x.index_fill(1, torch.tensor([3, 0], device=x.device), -1), near(6, 4), dtypes=FLOAT + I64, grad=False)
case("index rows", lambda x, i: x[i], near(6, 4), near(5, low=0, high=5, dtype=torch.int64), dtypes=NUMBER)
case("index pairs", lambda x, i, j: x[i, j], near(6, 4), near(5, low=0, high=5, dtype=torch.int64), near(5, low=0, high=3, dtype=torch.int64))
case("index around", lambda x, i: x[:, i], near(6, 4, 2), near(5, low=0, high=3, dtype=torch.int64))
case("index apart", lambda x, i: x[i, :, i], near(3, 4, 3), near(2, low=0, high=2, dtype=torch.int64), dtypes=F32)
case("index mask", lambda x: x[x > 0], near(6, 4), dtypes=FLOAT + I64)
case("index_put", lambda x, i, v: x.index_put((i,), v, accumulate=True), near(6, 4), near(5, low=0, high=5, dtype=torch.int64), near(5, 4))
case("set by mask", lambda x: [y := x.clone(), y.__setitem__(x > 0, 0)], near(6, 4), dtypes=FLOAT, grad=False)
case("set rows", lambda x: [y := x.clone(), y.__setitem__(torch.tensor([4, 1], device=x.device), 7)], near(6, 4), dtypes=FLOAT, grad=False)
# Nothing is picked: by a mask that is false everywhere, or by no index at all.
for name, key in {
    "mask": lambda x: x > 9,
    "rows": lambda x: x[:, 0] > 9,
    "columns": lambda x: (slice(None), x[0] > 9),
    "no index": lambda x: torch.zeros(0, dtype=torch.int64, device=x.device),
}.items():
    case(f"pick nothing by {name}", lambda x, key=key: x[key(x)], near(6, 4), dtypes=FLOAT + I64)
    case(f"set nothing by {name}", lambda x, key=key: [y := x.clone(), y.__setitem__(key(x), 7)], near(6, 4), dtypes=FLOAT + I64, grad=False)
case("add nothing", lambda x: x.index_put((x[:, 0] > 9,), x.sum(), accumulate=True), near(6, 4), grad=False)
case("masked_select", lambda x: torch.masked_select(x, x > 0), near(6, 4), dtypes=NUMBER, grad=False)
case("masked_scatter", lambda x, s: x.masked_scatter(x > 0, s), near(6, 4), near(24), dtypes=F32, grad=False)
case("nonzero", lambda x: torch.nonzero(x), near(4, 5), dtypes=ANY, grad=False)
case("where indices", lambda x: torch.where(x > 0), near(4, 5), dtypes=F32, grad=False)
case("take", lambda x, i: torch.take(x, i), near(6, 4), near(5, low=0, high=23, dtype=torch.int64), grad=False)
case("take_along_dim", lambda x: torch.take_along_dim(x, x.argsort(1), 1), near(5, 6), dtypes=F32)
case("embedding", lambda w, i: F.embedding(i, w), near(7, 4), near(2, 5, low=0, high=6, dtype=torch.int64))
case("embedding padding", lambda w, i: F.embedding(i, w, padding_idx=2), near(7, 4), near(2, 5, low=0, high=6, dtype=torch.int64), dtypes=F32)
case("sort", lambda x: x.sort(1), near(4, 6), dtypes=WIDE)
case("sort of integers", lambda x: x.sort(dim=0, descending=True, stable=True), near(6, 3), dtypes=INT[:3], grad=False)
case("argsort", lambda x: x.argsort(dim=1, stable=True), near(4, 6), dtypes=F32 + I64, grad=False)
case("topk", lambda x: x.topk(3, 1)[0], near(4, 6), dtypes=FLOAT)
case("topk smallest", lambda x: x.topk(2, 0, largest=False)[0], near(4, 6), dtypes=F32)
case("unique", lambda x: torch.unique(x, return_inverse=True, return_counts=True), near(20), dtypes=F32 + I64, grad=False)
case("bincount", lambda x: torch.bincount(x, minlength=8), near(20, low=0, high=5), dtypes=I64)
case("histc", lambda x: torch.histc(x, 5, -3, 3), near(20), dtypes=F32, grad=False)
case("searchsorted", lambda x, v: torch.searchsorted(x.sort()[0].contiguous(), v.contiguous()), near(9), near(4, 3), dtypes=F32, grad=False)
case("bucketize", lambda v: torch.bucketize(v, torch.tensor([-1.0, 0.0, 1.0], device=v.device)), near(4, 3), dtypes=F32, grad=False)

case("repeat_interleave by row", lambda x, n: x.repeat_interleave(n, 0), near(4, 3), near(4, low=0, high=3, dtype=torch.int64), dtypes=F32)
OFFSETS = torch.tensor([0, 3, 7])
for mode in ("sum", "mean", "max"):
    case(f"embedding_bag {mode}", lambda w, i, mode=mode: F.embedding_bag(i, w, OFFSETS.to(w.device), mode=mode), near(10, 4), near(12, low=0, high=9, dtype=torch.int64), dtypes=F32)
    case(f"embedding_bag of rows {mode}", lambda w, i, mode=mode: F.embedding_bag(i, w, mode=mode), near(10, 4), near(3, 4, low=0, high=9, dtype=torch.int64), dtypes=F32, grad=mode != "max")
case("embedding max_norm", lambda w, i: F.embedding(i, w.clone(), max_norm=1.0), near(7, 4), near(2, 5, low=0, high=6, dtype=torch.int64), dtypes=F32, grad=False)

# Losses.
CLASSES = near(6, low=0, high=4, dtype=torch.int64)
for reduction in ("none", "mean", "sum"):
    for name in "mse_loss l1_loss smooth_l1_loss huber_loss".split():
        case(f"{name} {reduction}", lambda a, b, name=name, r=reduction: getattr(F, name)(a, b, reduction=r), near(4, 5), near(4, 5))
    case(f"cross_entropy {reduction}", lambda x, t, r=reduction: F.cross_entropy(x, t, reduction=r), near(6, 5), CLASSES)
    case(f"nll_loss {reduction}", lambda x, t, w, r=reduction: F.nll_loss(F.log_softmax(x, 1), t, w, reduction=r), near(6, 5), CLASSES, near(5, **POSITIVE, grad=False), dtypes=WIDE)
    case(f"bce {reduction}", lambda x, t, r=reduction: F.binary_cross_entropy(x, t, reduction=r), near(4, 5, **SHARE), near(4, 5, **SHARE, grad=False), dtypes=WIDE)
    case(f"bce logits {reduction}", lambda x, t, r=reduction: F.binary_cross_entropy_with_logits(x, t, reduction=r), near(4, 5), near(4, 5, **SHARE, grad=False), dtypes=WIDE)
    case(f"kl_div of both {reduction}", lambda x, t, r=reduction: F.kl_div(F.log_softmax(x, 1), F.softmax(t, 1), reduction=r), near(4, 5), near(4, 5), dtypes=WIDE)
    case(f"kl_div of logarithms {reduction}", lambda x, t, r=reduction: F.kl_div(F.log_softmax(x, 1), F.log_softmax(t, 1), reduction=r, log_target=True), near(4, 5), near(4, 5), dtypes=WIDE)
    case(f"kl_div {reduction}", lambda x, t, r=reduction: F.kl_div(F.log_softmax(x, 1), F.softmax(t, 1), reduction=r), near(4, 5), near(4, 5, grad=False), dtypes=WIDE)
case("bce logits weighted", lambda x, t, w, p: F.binary_cross_entropy_with_logits(x, t, w, pos_weight=p), near(4, 5), near(4, 5, **SHARE, grad=False), near(5, **POSITIVE, grad=False), near(5, **POSITIVE, grad=False), dtypes=WIDE)
case("cross_entropy ignored", lambda x, t: F.cross_entropy(x, t, ignore_index=2), near(6, 5), CLASSES, dtypes=WIDE)
case("cross_entropy smoothed", lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), near(6, 5), CLASSES, dtypes=WIDE)
case("cross_entropy images", lambda x, t: F.cross_entropy(x, t), near(2, 5, 3, 4), near(2, 3, 4, low=0, high=4, dtype=torch.int64), dtypes=F32)
for reduction in ("none", "mean", "sum"):
    case(f"ctc_loss {reduction}", lambda x, r=reduction: F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2, 2], [3, 1, 0]], device=x.device), (7, 6), (3, 2), reduction=r), near(7, 2, 5), dtypes=F32)
    case(f"multilabel_margin_loss {reduction}", lambda x, r=reduction: F.multilabel_margin_loss(x, torch.tensor([[0, 2, -1, 0], [3, -1, 1, 1]], device=x.device), reduction=r), near(2, 4), dtypes=F32, grad=False)
case("ctc_loss behind each other", lambda x: F.ctc_loss(x.log_softmax(-1), torch.tensor([1, 2, 2, 3, 1], device=x.device), (7, 6), (3, 2), blank=4), near(7, 2, 5), dtypes=F32)
case("ctc_loss without a way", lambda x: F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 1, 1]], device=x.device), (2,), (3,), zero_infinity=True), near(3, 1, 5), dtypes=F32)
case("margin losses", lambda a, b: F.margin_ranking_loss(a, b, torch.ones_like(a)), near(6), near(6), dtypes=F32)

# Norms.
case("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b), near(3, 4, 5), near(5), near(5), dtypes=FLOAT[:3])
case("layer_norm plain", lambda x: F.layer_norm(x, (4, 5)), near(3, 4, 5), dtypes=WIDE)
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), near(3, 4, 5), near(4), near(4), dtypes=F32)
case("rms_norm", lambda x, w: F.rms_norm(x, (5,), w), near(3, 4, 5), near(5), dtypes=F32)


def batch_norm(x, weight, bias):
    mean, variance = torch.zeros_like(weight), torch.ones_like(weight)
    out = F.batch_norm(x, mean, variance, weight, bias, training=True, momentum=0.3)
    later = F.batch_norm(x, mean, variance, weight, bias, training=False)
    return out, later, mean, variance


case("batch_norm", batch_norm, near(5, 3, 4, 2), near(3), near(3), dtypes=F32)
case("batch_norm 1d", batch_norm, near(6, 3), near(3), near(3), dtypes=F32)
case("instance_norm", lambda x: F.instance_norm(x), near(2, 3, 4, 4), dtypes=F32)

# Images.
case("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), near(2, 3, 7, 8), near(4, 3, 3, 3), near(4), dtypes=[torch.float32, torch.float16])
case("conv2d groups", lambda x, w: F.conv2d(x, w, groups=2, dilation=2), near(2, 4, 7, 8), near(6, 2, 3, 3), dtypes=F32)
case("conv2d depthwise", lambda x, w: F.conv2d(x, w, groups=4), near(2, 4, 5, 5), near(4, 1, 3, 3), dtypes=F32)
case("conv2d 1x1", lambda x, w: F.conv2d(x, w), near(2, 3, 4, 4), near(5, 3, 1, 1), dtypes=F32)
case("conv1d", lambda x, w, b: F.conv1d(x, w, b, padding=1), near(2, 3, 8), near(4, 3, 3), near(4), dtypes=F32)
case("conv3d", lambda x, w: F.conv3d(x, w), near(1, 2, 4, 4, 4), near(3, 2, 2, 2, 2), dtypes=F32)
case("conv_transpose2d", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1), near(2, 3, 4, 5), near(3, 4, 3, 3), near(4), dtypes=F32)
case("max_pool2d", lambda x: F.max_pool2d(x, 2), near(2, 3, 6, 6), dtypes=[torch.float32, torch.float16])
case("max_pool2d overlapping", lambda x: F.max_pool2d(x, 3, 2, 1), near(2, 3, 7, 7), dtypes=F32)
case("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1), near(2, 3, 7, 7), dtypes=[torch.float32, torch.float16])
case("avg_pool2d no pad", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), near(2, 3, 7, 7), dtypes=F32)
case("avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2), near(2, 3, 7), dtypes=F32)
case("max_pool1d", lambda x: F.max_pool1d(x, 3, 2), near(2, 3, 7), dtypes=F32)
case("adaptive_avg_pool2d", lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (2, 3))), near(2, 3, 7, 8), dtypes=[torch.float32, torch.float16])
case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (2, 3)), near(2, 3, 7, 8), dtypes=F32)
case("interpolate nearest", lambda x: F.interpolate(x, scale_factor=2), near(2, 3, 4, 5), dtypes=F32)
case("interpolate bilinear", lambda x: F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=False), near(2, 3, 4, 5), dtypes=F32)
case("interpolate corners", lambda x: F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True), near(2, 3, 4, 5), dtypes=F32)
case("interpolate bicubic", lambda x: F.interpolate(x, size=(7, 9), mode="bicubic"), near(2, 3, 4, 5), dtypes=F32)
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), near(2, 8, 3, 3), dtypes=F32)
case("unfold images", lambda x: F.unfold(x, 3, padding=1), near(2, 3, 5, 5), dtypes=F32)
case("fold images", lambda x: F.fold(x, (5, 5), 3, padding=1), near(2, 27, 25), dtypes=F32)

case("interpolate trilinear", lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), near(1, 2, 3, 3, 3), dtypes=F32)
case("interpolate nearest 3d", lambda x: F.interpolate(x, scale_factor=2), near(1, 2, 3, 3, 3), dtypes=F32)
for padding in ("zeros", "border", "reflection"):
    for corners in (False, True):
        words = dict(padding_mode=padding, align_corners=corners)
        case(f"grid_sample {words}", lambda x, g, words=words: F.grid_sample(x, g, **words), near(2, 3, 5, 4), near(2, 3, 3, 2, low=-1.4, high=1.4), dtypes=F32)
        case(f"grid_sample bicubic {words}", lambda x, g, words=words: F.grid_sample(x, g, mode="bicubic", **words), near(2, 3, 5, 4), near(2, 3, 3, 2, low=-1.4, high=1.4), dtypes=F32)
case("grid_sample nearest", lambda x, g: F.grid_sample(x, g, mode="nearest", align_corners=False), near(2, 3, 5, 4), near(2, 3, 3, 2, **UNIT, grad=False), dtypes=F32)
for words in ({"align_corners": False}, {"align_corners": True, "padding_mode": "border"}):
    case(f"grid_sample 3d {words}", lambda x, g, words=words: F.grid_sample(x, g, **words), near(2, 3, 4, 5, 4), near(2, 3, 2, 3, 3, low=-1.4, high=1.4), dtypes=F32)
case("affine_grid", lambda t: (F.affine_grid(t, (2, 3, 4, 5), align_corners=False), F.affine_grid(t, (2, 3, 4, 5), align_corners=True)), near(2, 2, 3), dtypes=F32)

# Matrices. The signs of singular vectors may differ, so their product is compared.
for shape in ((3, 4), (5, 3), (2, 4, 4)):
    for mode in ("reduced", "complete"):
        case(f"qr {shape} {mode}", lambda x, mode=mode: torch.linalg.qr(x, mode=mode), near(*shape), dtypes=F32, grad=False)
    case(f"singular values {shape}", torch.linalg.svdvals, near(*shape), dtypes=F32, grad=False)
    for full in (False, True):
        def product(x, full=full):
            left, values, right = torch.linalg.svd(x, full_matrices=full)
            count = values.shape[-1]
            return left[..., :count] * values[..., None, :] @ right[..., :count, :], left.mT @ left, right @ right.mT

        case(f"svd {shape} {full}", product, near(*shape), dtypes=F32, grad=False)
for power in (0.5, 1.5, 3):
    case(f"vector_norm {power}", lambda x, p=power: torch.linalg.vector_norm(x, p, dim=1), near(4, 3, low=0.25), dtypes=F32)
    case(f"pairwise_distance {power}", lambda a, b, p=power: F.pairwise_distance(a, b, p), near(4, 3, low=1.0), near(4, 3, high=0.5), dtypes=F32)
for power in (0, 1, 2, math.inf):
    case(f"pdist {power}", lambda x, p=power: torch.pdist(x, p), near(4, 3), dtypes=F32, grad=False)

# Complex numbers: of two real tensors, and as two real numbers in the end.
def complex_case(name, function, **rest):
    case(f"complex {name}", lambda a, b: torch.view_as_real(function(torch.complex(a, b), torch.complex(b, a + 2))), near(3, 4), near(3, 4), dtypes=F32, **rest)


for name, function in {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: 1 - x * 2 - y,
    "mul": lambda x, y: x * y,
    "mul by a real one": lambda x, y: x * y.real,
    "mul by numbers": lambda x, y: x * (1 + 2j) + 1j,
    "div": lambda x, y: x / (y + 4),
    "conj": lambda x, y: x * y.conj(),
    "exp": lambda x, y: x.exp() + y.neg().exp(),
    "cat": lambda x, y: torch.cat([x, y.flip(1)]),
    "sum": lambda x, y: x.sum(1) + y.mean(1),
    "index": lambda x, y: x[[0, 2]] + y[1],
    "cumsum": lambda x, y: x.cumsum(1),
}.items():
    complex_case(name, function)
# torch_npu has no gradients of some products of complex numbers, and ignores conjugates in the others.
for name, function in {
    "mm": lambda x, y: x @ y.t(),
    "bmm": lambda x, y: torch.stack([x, y]) @ torch.stack([y, x]).mT,
    "matmul": lambda x, y: torch.stack([x, y]) @ y.t(),
    "mv": lambda x, y: x @ y[0],
    "dot": lambda x, y: x[0].dot(y[1]),
    "linear": lambda x, y: F.linear(x, y, y[:, 0]),
    "addmm": lambda x, y: torch.addmm(x[:, :3], x, y.t(), beta=2, alpha=3),
    "real by complex": lambda x, y: torch.complex(x.real, 0 * x.real) @ y.t(),
    "sqrt": lambda x, y: x.sqrt(),
    "log": lambda x, y: (y + 5).log(),
    "sin": lambda x, y: x.sin(),
    "tanh": lambda x, y: (x / 4).tanh(),
    "pow": lambda x, y: x**3,
    "in place": lambda x, y: x.clone().mul_(y).add_(1).sub_(y),
    "where": lambda x, y: torch.where(x.real > 0, x, y),
    "fft": lambda x, y: torch.fft.ifft(torch.fft.fft(x) * y),
    "addmv": lambda x, y: torch.addmv(x[:, 0], x, y[0]),
    "addr": lambda x, y: torch.addr(x, x[:, 1], y[0]),
    "without first": lambda x, y: torch.addmm(x[:, :3] * torch.nan, x, y.t(), beta=0),
    "prod": lambda x, y: x.prod() + y.prod(0),
    "cumprod": lambda x, y: x.cumprod(1),
    "inverse functions": lambda x, y: (x / 5).asin() + (y / 5).acos() + (x / 5).atan(),
    "inverse hyperbolic": lambda x, y: (x / 5).asinh() + (y + 6).acosh() + (x / 5).atanh(),
    "logarithms": lambda x, y: (y + 5).log2() + (y + 5).log10() + (x / 9).log1p(),
    "exp2": lambda x, y: x.exp2(),
    "sgn": lambda x, y: (x + 5).sgn() + (0 * y).sgn(),
    "silu": lambda x, y: F.silu(x),
    "lerp": lambda x, y: torch.lerp(x, y, 0.25) + torch.lerp(x, y, y),
    "pad": lambda x, y: torch.cat([F.pad(x, (1, 2), value=1.5), torch.constant_pad_nd(y, (1, 2), 1 - 2j)]),
    "pad reflect": lambda x, y: torch.cat([F.pad(x, (1, 2), mode="reflect"), F.pad(y, (1, 2), mode="replicate")]),
    "index fill": lambda x, y: x.index_fill(1, torch.tensor([0, 2], device=x.device), 1 + 2j) + y.index_fill(0, torch.tensor([1], device=x.device), 3),
    "masked": lambda x, y: torch.cat([x[x.real > 0], x.masked_scatter(x.real > 0, y).flatten()]),
    "take": lambda x, y: x.take(torch.tensor([0, 5, 11], device=x.device)),
    "put": lambda x, y: x.clone().put_(torch.tensor([0, 5, 5], device=x.device), y[0, :3], accumulate=True),
    "repeated": lambda x, y: torch.cat([x.repeat_interleave(2, 1), y.repeat_interleave(2, 1)]),
    "unfold": lambda x, y: F.unfold(torch.stack([x, y])[None], (2, 2)),
    "constants": lambda x, y: x[:3, :3] * torch.eye(3, dtype=x.dtype, device=x.device) + torch.ones(3, dtype=x.dtype, device=x.device) + torch.ones_like(y[:, :3]),
    "truth": lambda x, y: torch.stack([it + 0j for it in (x.isfinite(), x.logical_and(0 * y), x.logical_or(0 * y), x.logical_xor(y), (0 * x).logical_not(), (x.imag * 1j).any(1)[:, None].expand(3, 4), (0 * x).all(1)[:, None].expand(3, 4))]),
}.items():
    complex_case(name, function, grad=False)
case("complex parts", lambda a, b: [(x := torch.complex(a, b)).real * 1, x.imag * 1, x.angle(), x == x.conj()], near(3, 4), near(3, 4), dtypes=F32, grad=False)
case("rotated pairs", lambda x: torch.view_as_real(torch.view_as_complex(x.contiguous()) * torch.polar(torch.ones(6, device=x.device), torch.arange(6.0, device=x.device))), near(4, 6, 2), dtypes=F32, grad=False)
# torch_npu gives norms and variances of complex numbers the type of complex numbers.
case("complex spread", lambda a, b: [torch.view_as_real(0j + torch.var(torch.complex(a, b), dim, correction=correction)) for dim, correction in ((0, 1), (1, 0))] + [torch.view_as_real(0j + torch.complex(a, b).std())], near(3, 4), near(3, 4), dtypes=F32, grad=False)
case("complex norm", lambda a, b: [torch.view_as_real(torch.linalg.vector_norm(torch.complex(a, b), p, 1) + 0j) for p in (1, 2, math.inf)], near(3, 4), near(3, 4), dtypes=F32, grad=False)


def spectra(x, points, window=None, **rest):
    """A transform of windows by words, as pairs of numbers."""
    # torch_npu 2.7.1 makes windows of integers, which its product with a fraction refuses.
    window = window and torch.hann_window(window).to(x.device)
    return torch.view_as_real(torch.stft(x, points, window=window, return_complex=True, **rest))


for name, rest in {
    "plain": {},
    "window": {"window": 16},
    "narrow": {"window": 10, "win_length": 10, "hop_length": 3},
    "width": {"win_length": 6, "hop_length": 5},
    "all": {"onesided": False, "normalized": True, "center": False},
}.items():
    case(f"stft {name}", lambda x, rest=rest: spectra(x, 16, **rest), near(2, 60), dtypes=F32, grad=False)
case("stft signal", lambda x: spectra(x, 9), near(50), dtypes=F32, grad=False)
case("istft", lambda x: torch.istft(torch.stft(x, 16, window=(w := torch.hann_window(16).to(x.device)), return_complex=True), 16, window=w), near(2, 60), dtypes=F32, grad=False)
case("rfft", lambda x: torch.view_as_real(torch.fft.rfft(x)).pow(2).sum(-1), near(4, 16), dtypes=F32)

# Functions of torch_npu, compared with the same of plain functions.
def fused(name, own, plain, *arguments, **rest):
    case(name, lambda *given: (own if given[0].device.type == "npu" else plain)(*given), *arguments, dtypes=F32, **rest)


def turned(x):
    return torch.cat((-x.chunk(2, -1)[1], x.chunk(2, -1)[0]), -1)


def turned_neighbours(x):
    pairs = x.unflatten(-1, (-1, 2))
    return torch.stack((-pairs[..., 1], pairs[..., 0]), -1).flatten(-2)


def rms_sum(x, y, weight):
    rstd = ((x + y).pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()
    return (x + y) * rstd * weight, rstd, x + y


def restored(x, shares, own):
    """Tokens in the order of their experts, and back."""
    experts = torch.tensor([[2, 0], [1, 2], [0, 1], [2, 1]], device=x.device, dtype=torch.int32)
    if not own:
        return (x[:, None] * shares[..., None]).sum(1)
    rows, order = torch_npu.npu_moe_token_permute(x, experts)
    return torch_npu.npu_moe_token_unpermute(rows, order, shares)


fused("sum and norm", torch_npu.npu_add_rms_norm, rms_sum, near(3, 5, 8), near(3, 5, 8), near(8), grad=False)
fused(
    "sum and layer norm",
    lambda x, y, *rest: torch_npu.npu_add_layer_norm(x, y, *rest, 1e-5, True)[::3],
    lambda x, y, *rest: (F.layer_norm(x + y, (8,), *rest), x + y),
    *[near(3, 5, 8), near(3, 5, 8), near(8), near(8)],
    grad=False,
)
for mode, turn in (("half", turned), ("interleave", turned_neighbours)):
    fused(
        f"rotary {mode}",
        lambda x, c, s, mode=mode: torch_npu.npu_rotary_mul(x, c, s, mode),
        lambda x, c, s, turn=turn: x * c + turn(x) * s,
        *[near(2, 3, 4, 64), near(1, 3, 1, 64), near(1, 3, 1, 64)],
    )
fused(
    "rotary of both",
    lambda q, k, c, s: torch_npu.npu_apply_rotary_pos_emb(q.clone(), k.clone(), c, s, "BSH"),
    lambda q, k, c, s: (q * c + turned(q) * s, k * c + turned(k) * s),
    *[near(2, 3, 4, 128), near(2, 3, 1, 128), near(2, 3, 1, 128), near(2, 3, 1, 128)],
    grad=False,
)
fused(
    "chosen experts",
    lambda x: torch_npu.npu_moe_gating_top_k_softmax(x, None, 2)[0],
    lambda x: x.softmax(-1).topk(2).values,
    near(6, 8),
    grad=False,
)
fused("tokens by expert", lambda x, p: restored(x, p, True), lambda x, p: restored(x, p, False), near(4, 8), near(4, 2), grad=False)

# Layers with a state.
STATE = [near(6, 4, 3), near(1, 4, 5), near(1, 4, 5)]
WEIGHTS = [near(20, 3, **UNIT), near(20, 5, **UNIT), near(20, **UNIT), near(20, **UNIT)]
case("lstm", lambda x, h, c, *w: torch.lstm(x, (h, c), w, True, 1, 0.0, True, False, False), *STATE, *WEIGHTS, dtypes=F32)
case("lstm without bias", lambda x, h, c, *w: torch.lstm(x, (h, c), w, False, 1, 0.0, True, False, False), *STATE, *WEIGHTS[:2], dtypes=F32)
case("lstm_cell", lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w), near(4, 3), near(4, 5), near(4, 5), *WEIGHTS, dtypes=F32)
WEIGHTS = [near(15, 3, **UNIT), near(15, 5, **UNIT), near(15, **UNIT), near(15, **UNIT)]
case("gru", lambda x, h, *w: torch.gru(x, h, w, True, 1, 0.0, True, False, False), *STATE[:2], *WEIGHTS, dtypes=F32)
case("gru both ways", lambda x, h, *w: torch.gru(x, h, w + w, True, 1, 0.0, True, True, False), STATE[0], near(2, 4, 5), *WEIGHTS, dtypes=F32)
case("gru_cell", lambda x, h, *w: torch.gru_cell(x, h, *w), near(4, 3), near(4, 5), *WEIGHTS, dtypes=F32)

# Attention.
case("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), near(2, 3, 5, 16), near(2, 3, 7, 16), near(2, 3, 7, 16))
case("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), near(2, 3, 5, 16), near(2, 3, 5, 16), near(2, 3, 5, 16))
case("attention mask", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m.triu() | ~m.triu()), near(2, 3, 5, 16), near(2, 3, 5, 16), near(2, 3, 5, 16), near(5, 5, dtype=torch.bool))

# Lists of tensors.
LISTS = [near(4, 3), near(5), near(2, 2)]
for name in "abs exp neg sqrt reciprocal sigmoid tanh log".split():
    case(f"foreach {name}", lambda *xs, name=name: getattr(torch, f"_foreach_{name}")(xs), *[near(*x.shape, **POSITIVE) for x in LISTS], dtypes=FLOAT[:3], grad=False)
for name in "add sub mul div maximum minimum".split():
    function = getattr(torch, f"_foreach_{name}")
    case(f"foreach {name} list", lambda *xs, f=function: f(xs, [x.abs() + 1 for x in xs]), *LISTS, dtypes=FLOAT[:3], grad=False)
    case(f"foreach {name} number", lambda *xs, f=function: f(xs, 2.0), *LISTS, dtypes=FLOAT[:3], grad=False)
    case(f"foreach {name} numbers", lambda *xs, f=function: f(xs, [2.0, 3.0, 4.0]), *LISTS, dtypes=FLOAT[:3], grad=False)
for name in "addcmul addcdiv".split():
    function = getattr(torch, f"_foreach_{name}")
    case(f"foreach {name}", lambda *xs, f=function: f(xs, xs, [x.abs() + 1 for x in xs], 0.5), *LISTS, dtypes=FLOAT[:3], grad=False)
    case(f"foreach {name} numbers", lambda *xs, f=function: f(xs, xs, [x.abs() + 1 for x in xs], [0.5, 1.0, 2.0]), *LISTS, dtypes=FLOAT[:3], grad=False)
case("foreach lerp", lambda *xs: torch._foreach_lerp(xs, [x + 1 for x in xs], 0.3), *LISTS, dtypes=F32, grad=False)
case("foreach pow", lambda *xs: torch._foreach_pow(xs, 2.0), *LISTS, dtypes=F32, grad=False)
case("foreach norm", lambda *xs: torch._foreach_norm(xs, 2), *LISTS, dtypes=FLOAT[:3], grad=False)
case("foreach copy", lambda *xs: [ys := [torch.zeros_like(x) for x in xs], torch._foreach_copy_(ys, list(xs))], *LISTS, dtypes=F32, grad=False)


def main():
    words = sys.argv[1:]
    random.seed(20)
    torch.manual_seed(20)
    alike, wrong = 0, 0
    for name, function, arguments, dtypes, grad in CASES:
        if words and not any(word in name for word in words):
            continue
        for dtype, plain in itertools.product(dtypes, (True, False)):
            try:
                found = check(function, arguments, dtype, grad, plain)
            except Exception as error:
                found = f"{type(error).__name__}: {error}".split("\n")[0][:300]
            alike, wrong = alike + (found is None), wrong + (found is not None)
            if found is not None:
                print(f"{name}, {dtype}, {'plain' if plain else 'laid out'}: {found}", flush=True)
    print(f"alike: {alike}, different: {wrong}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
