# Operators on the result of a GRU, whose format is FRACTAL_NZ in torch_npu 2.7.1, against the same on the CPU, gradients
# included. Arguments: names of cases. Prints the cases that differ, and how many were alike.
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_npu

NPU = torch.device("npu:0")
# Times, sequences, inputs and the width of the result: multiples of 16, and others.
LENGTHS = [(6, 4, 8, 16), (5, 3, 7, 9), (2, 17, 3, 33)]


def like(y, *shape):
    """Fixed numbers between -1 and 1."""
    shape = shape or y.shape
    count = torch.arange(torch.Size(shape).numel(), dtype=torch.float32)
    return count.remainder(13).sub(6).div(7).reshape(shape).to(y.device)


def width(y):
    return y.shape[-1]


def classes(y):
    return torch.arange(y.shape[0] * y.shape[1]).remainder(width(y)).to(y.device)


def even(y):
    return y[..., : width(y) // 2 * 2]


def picked(y, *numbers):
    return torch.tensor(numbers, device=y.device)


ELEMENTS = dict(
    add=lambda y: y + like(y), add_number=lambda y: y + 1.5, add_part=lambda y: torch.add(y, y, alpha=0.5), sub=lambda y: like(y) - y,
    sub_number=lambda y: 1 - y, mul=lambda y: y * like(y, width(y)), mul_number=lambda y: y * 2, div=lambda y: y / (y * y + 1),
    div_number=lambda y: y / 3, neg=lambda y: -y, abs=lambda y: y.abs(), exp=lambda y: y.exp(), log=lambda y: (y + 2).log(),
    sqrt=lambda y: (y + 2).sqrt(), rsqrt=lambda y: (y + 2).rsqrt(), square=lambda y: y.square(), pow=lambda y: y.pow(3),
    pow_tensor=lambda y: (y + 2).pow(y), number_pow=lambda y: 2**y, reciprocal=lambda y: (y + 2).reciprocal(), sin=lambda y: y.sin(),
    cos=lambda y: y.cos(), sign=lambda y: y.sign(), floor=lambda y: y.floor(), ceil=lambda y: y.ceil(), round=lambda y: y.round(),
    erf=lambda y: y.erf(), clamp=lambda y: y.clamp(-0.2, 0.2), clamp_min=lambda y: y.clamp(min=0.1), lerp=lambda y: y.lerp(like(y), 0.3),
    addcmul=lambda y: torch.addcmul(y, y, like(y), value=0.5), addcdiv=lambda y: torch.addcdiv(y, y, like(y) + 2, value=0.5),
    maximum=lambda y: torch.maximum(y, like(y)), minimum=lambda y: torch.minimum(y, like(y)), atan2=lambda y: torch.atan2(y, like(y)),
    fmod=lambda y: torch.fmod(y, 0.3), remainder=lambda y: torch.remainder(y, 0.3), where=lambda y: torch.where(y > 0, y, y * 0.1),
    masked_fill=lambda y: y.masked_fill(y > 0, 0.5), equal=lambda y: y == y, at_least=lambda y: y >= like(y), at_most=lambda y: y <= 0.1,
    other=lambda y: y != 0, below=lambda y: y < 0.1, integers=lambda y: (y * 10).int(), half=lambda y: y.half().float(),
    ones_like=lambda y: torch.ones_like(y) + y, full_like=lambda y: torch.full_like(y, 2) * y, in_place=lambda y: y.clone().mul_(2).add_(1),
    zero=lambda y: y.clone().zero_() + y, clone=lambda y: y.clone(), is_finite=lambda y: y.isfinite(),
    acos=lambda y: (y / 2).acos(), acosh=lambda y: (y + 3).acosh(), asin=lambda y: (y / 2).asin(), asinh=lambda y: y.asinh(),
    atan=lambda y: y.atan(), atanh=lambda y: (y / 2).atanh(), tan=lambda y: y.tan(), sinh=lambda y: y.sinh(), cosh=lambda y: y.cosh(),
    erfc=lambda y: y.erfc(), expm1=lambda y: y.expm1(), log1p=lambda y: y.log1p(), log2=lambda y: (y + 2).log2(), trunc=lambda y: (y * 3).trunc(),
    floor_divide=lambda y: torch.floor_divide(y.detach(), 0.3), xlogy=lambda y: torch.xlogy(y, y + 2), is_inf=lambda y: y.isinf(),
    both=lambda y: torch.logical_and(y, y > 0), either=lambda y: torch.logical_or(y, y > 0), neither=lambda y: torch.logical_not(y),
    exp2=lambda y: y.exp2(), threshold=lambda y: F.threshold(y, 0.1, 0.0),
)
ACTIVATIONS = dict(
    relu=lambda y: y.relu(), tanh=lambda y: y.tanh(), sigmoid=lambda y: y.sigmoid(), gelu=lambda y: F.gelu(y), silu=lambda y: F.silu(y),
    leaky_relu=lambda y: F.leaky_relu(y, 0.1), elu=lambda y: F.elu(y), selu=lambda y: F.selu(y), softplus=lambda y: F.softplus(y),
    hardtanh=lambda y: F.hardtanh(y, -0.2, 0.3), logsigmoid=lambda y: F.logsigmoid(y), hardswish=lambda y: F.hardswish(y),
    hardsigmoid=lambda y: F.hardsigmoid(y), mish=lambda y: F.mish(y), prelu=lambda y: F.prelu(y, picked(y, 0.25)),
    glu=lambda y: F.glu(even(y).contiguous(), -1), softmax=lambda y: y.softmax(-1), softmax_first=lambda y: y.softmax(0),
    log_softmax=lambda y: y.log_softmax(-1), layer_norm=lambda y: F.layer_norm(y, (width(y),)),
    layer_norm_scaled=lambda y: F.layer_norm(y, (width(y),), like(y, width(y)), like(y, width(y))), group_norm=lambda y: F.group_norm(y, 1),
    batch_norm=lambda y: F.batch_norm(y.permute(1, 2, 0), None, None, training=True), normalize=lambda y: F.normalize(y, dim=-1),
)
LOSSES = dict(
    mse_zero=lambda y: F.mse_loss(y, torch.zeros_like(y)), mse=lambda y: F.mse_loss(y, like(y)),
    mse_sum=lambda y: F.mse_loss(y, like(y), reduction="sum"), mse_each=lambda y: F.mse_loss(y, like(y), reduction="none"),
    l1=lambda y: F.l1_loss(y, like(y)), smooth_l1=lambda y: F.smooth_l1_loss(y, like(y)), huber=lambda y: F.huber_loss(y, like(y)),
    with_logits=lambda y: F.binary_cross_entropy_with_logits(y, (like(y) > 0).float()),
    binary=lambda y: F.binary_cross_entropy(y.sigmoid(), (like(y) > 0).float()),
    cross_entropy=lambda y: F.cross_entropy(y.reshape(-1, width(y)), classes(y)),
    l1_sum=lambda y: F.l1_loss(y, like(y), reduction="sum"), nll=lambda y: F.nll_loss(y[-1], picked(y, 0).expand(y.shape[1])),
    squares=lambda y: y.pow(2).mean(),
)
REDUCTIONS = dict(
    sum=lambda y: y.sum(), sum_first=lambda y: y.sum(0), sum_kept=lambda y: y.sum(-1, keepdim=True), mean=lambda y: y.mean(),
    mean_first=lambda y: y.mean(0), mean_last=lambda y: y.mean(-1), mean_two=lambda y: y.mean((0, 2)), max=lambda y: y.max(),
    max_last=lambda y: y.max(-1)[0], amax=lambda y: y.amax(1), min=lambda y: y.min(), min_first=lambda y: y.min(0)[0], argmax=lambda y: y.argmax(-1), argmin=lambda y: y.argmin(-1), var_unbiased=lambda y: y.var(-1, unbiased=False),
    std=lambda y: y.std(-1), var=lambda y: y.var(0), norm=lambda y: y.norm(), norm_last=lambda y: y.norm(dim=-1),
    prod=lambda y: (y + 1).prod(-1), cumsum=lambda y: y.cumsum(0), logsumexp=lambda y: y.logsumexp(-1),
    any=lambda y: (y > 2).any(), all=lambda y: (y < 2).all(),
)
MOVES = dict(
    last=lambda y: y[-1], transpose=lambda y: y.transpose(0, 1).contiguous(), permute=lambda y: y.permute(2, 0, 1).contiguous(),
    reshape=lambda y: y.reshape(-1, width(y)), cat=lambda y: torch.cat([y, y], -1), cat_first=lambda y: torch.cat([y, like(y)], 0),
    stack=lambda y: torch.stack([y, y]), slice=lambda y: y[1:, :, 2:5].contiguous(), steps=lambda y: y[..., ::2] * 1,
    select=lambda y: y[:, -1], unbind=lambda y: sum(y.unbind(0)), turned=lambda y: y[-1].t().contiguous(), flat=lambda y: y.view(-1) * 1,
    expand=lambda y: y.unsqueeze(0).expand(3, *y.shape).contiguous(), repeat=lambda y: y.repeat(2, 1, 1), flip=lambda y: y.flip(0),
    index=lambda y: y[picked(y, 0, 1, 1)], index_select=lambda y: y.index_select(1, picked(y, 1, 0)), pad=lambda y: F.pad(y, (1, 1)),
    roll=lambda y: y.roll(1, 0), tril=lambda y: y.tril(), triu=lambda y: y.triu(), sort=lambda y: y.sort(-1)[0], topk=lambda y: y.topk(2, -1)[0],
    index_fill=lambda y: y.clone().index_fill_(0, picked(y, 0), 1.0), gather=lambda y: y.detach().gather(0, torch.zeros_like(y, dtype=torch.long)),
    cpu=lambda y: y.cpu(),
)
PRODUCTS = dict(
    linear=lambda y: F.linear(y, like(y, 3, width(y)), like(y, 3)), linear_last=lambda y: F.linear(y[-1], like(y, 3, width(y))).sum(),
    matmul=lambda y: y @ like(y, width(y), 5), bmm=lambda y: torch.bmm(y, y.transpose(1, 2)), matmul_turned=lambda y: y.transpose(1, 2) @ y,
    addmm=lambda y: torch.addmm(like(y, 5), y[-1], like(y, width(y), 5)), einsum=lambda y: torch.einsum("tbh,th->tb", y, y[:, 0]),
    conv=lambda y: F.conv1d(y.permute(1, 2, 0), like(y, 3, width(y), 1)), gru=lambda y: layer(nn.GRU, y)(y)[0], lstm=lambda y: layer(nn.LSTM, y)(y)[0],
)
CASES = {**ELEMENTS, **ACTIVATIONS, **LOSSES, **REDUCTIONS, **MOVES, **PRODUCTS}
# How the GRU itself is made: each kind is followed by some operators.
LAYERS = [dict(bidirectional=True), dict(num_layers=2), dict(batch_first=True), dict(bias=False)]


def layer(kind, y):
    torch.manual_seed(5)
    return kind(width(y), 7).to(y.device)


def computed(case, lengths, options, device):
    """The result of a case, and the gradients of the GRU's input and weights."""
    times, sequences, inputs, results = lengths
    torch.manual_seed(3)
    x, gru = torch.randn(times, sequences, inputs), nn.GRU(inputs, results, **options)
    x, gru = x.to(device).requires_grad_(), gru.to(device)
    y = gru(x)[0]
    result = case(y)
    found = [result.detach()]
    if result.requires_grad:
        # Every element counts differently, so that a gradient in the wrong place shows.
        count = torch.arange(result.numel(), dtype=torch.float32).remainder(7).sub(3).div(4)
        (result * count.reshape(result.shape).to(result.device)).sum().backward()
        found += [x.grad, *(parameter.grad for parameter in gru.parameters())]
    return [tensor.cpu() for tensor in found]


def difference(expected, found):
    for index, (a, b) in enumerate(zip(expected, found, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"tensor {index}: {b.dtype} {tuple(b.shape)}, not {a.dtype} {tuple(a.shape)}"
        a, b = a.double(), b.double()
        if not torch.allclose(a, b, rtol=2e-5, atol=2e-5):
            return f"tensor {index}: {(a - b).abs().max().item()} apart"
    return None


def dropped(lengths):
    """Dropout has no counterpart on the CPU: elements are zero, or divided by the share that stays. So are gradients."""
    times, sequences, inputs, results = lengths
    gru = nn.GRU(inputs, results).to(NPU)
    y = gru(torch.randn(times, sequences, inputs).to(NPU))[0].detach().requires_grad_()
    result = F.dropout(y, 0.25)
    result.sum().backward()
    y, slope, result = y.detach().cpu(), y.grad.cpu(), result.detach().cpu()
    stays = slope != 0
    share = stays.float().mean().item()
    if not 0.5 < share < 0.95:
        return f"{share} of the elements stay"
    return difference([y / 0.75 * stays, stays / 0.75], [result, slope])


def outcome(run):
    try:
        return run()
    except RuntimeError as error:
        return str(error).strip().splitlines()[0]


def main(names):
    alike = different = 0
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"no such case: {unknown}")
    runs = [(name, lengths, {}) for name in names or CASES for lengths in LENGTHS]
    if not names:
        runs += [(name, lengths, options) for name in ("tanh", "mean", "transpose") for lengths in LENGTHS for options in LAYERS]
    for name, lengths, options in runs:
        compare = lambda: difference(*(computed(CASES[name], lengths, options, device) for device in ("cpu", NPU)))
        wrong = outcome(compare)
        alike, different = alike + (not wrong), different + bool(wrong)
        if wrong:
            print(name, lengths, options or "", wrong, flush=True)
    for lengths in [] if names else LENGTHS:
        wrong = outcome(lambda: dropped(lengths))
        alike, different = alike + (not wrong), different + bool(wrong)
        if wrong:
            print("dropout", lengths, wrong, flush=True)
    print(f"format {torch_npu.get_npu_format(nn.GRU(2, 3).to(NPU)(torch.zeros(1, 1, 2).to(NPU))[0])}")
    print(f"alike: {alike}, different: {different}")
    sys.exit(different != 0)


main(sys.argv[1:])
