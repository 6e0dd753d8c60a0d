# Collectives of PyTorch between the ranks that torchrun starts, and training with gradients that all of them share.
# Rank 0 prints what it finds.
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch_npu

rank, ranks, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
torch.npu.set_device(local)
dist.init_process_group("hccl")
device = torch.device("npu", local)
TYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8, torch.uint8]
REDUCTIONS = {
    "sum": (dist.ReduceOp.SUM, lambda x: x.sum(0)),
    "largest": (dist.ReduceOp.MAX, lambda x: x.amax(0)),
    "smallest": (dist.ReduceOp.MIN, lambda x: x.amin(0)),
    "product": (dist.ReduceOp.PRODUCT, lambda x: x.prod(0)),
}


def say(*words):
    if rank == 0:
        print(*words, flush=True)


def same(name, found, expected):
    expected = torch.as_tensor(expected, dtype=torch.float64)
    assert torch.equal(found.cpu().double(), expected), f"{name} of rank {rank}: {found.cpu()}, not {expected}"


def filled(value, count=3):
    return torch.full((count,), float(value), device=device)


def all_reduce():
    for dtype in TYPES:
        for name, (operation, expected) in REDUCTIONS.items():
            x = (torch.arange(5) + rank + 1).to(dtype).to(device)
            dist.all_reduce(x, operation)
            all_of_them = torch.stack([torch.arange(5) + other + 1 for other in range(ranks)])
            # Small integers wrap, and fractions with few digits are rounded.
            same(f"all_reduce {name} {dtype}", x, expected(all_of_them).to(dtype).double())


def gathering():
    x = filled(rank)
    dist.broadcast(x, 1)
    same("broadcast", x, [1.0] * 3)
    parts = [torch.empty(3, device=device) for _ in range(ranks)]
    dist.all_gather(parts, filled(rank))
    same("all_gather", torch.stack(parts), [[float(other)] * 3 for other in range(ranks)])
    whole = torch.empty(3 * ranks, device=device)
    dist.all_gather_into_tensor(whole, filled(rank))
    same("all_gather_into_tensor", whole, [float(index // 3) for index in range(3 * ranks)])
    objects = [None] * ranks
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": other} for other in range(ranks)]


def reducing():
    part = torch.empty(2, device=device)
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * ranks, device=device))
    same("reduce_scatter_tensor", part, [ranks * 2.0 * rank, ranks * (2.0 * rank + 1)])
    dist.reduce_scatter(part, [filled(other, 2) for other in range(ranks)])
    same("reduce_scatter", part, [float(ranks * rank)] * 2)
    x = filled(1)
    dist.reduce(x, 0)
    if rank == 0:
        same("reduce", x, [float(ranks)] * 3)
    dist.scatter(part, [filled(other, 2) for other in range(ranks)] if rank == 0 else None, 0)
    same("scatter", part, [float(rank)] * 2)


def exchanging():
    whole = torch.empty(ranks, device=device)
    dist.all_to_all_single(whole, torch.arange(float(ranks), device=device) + 10 * rank)
    same("all_to_all_single", whole, [rank + 10.0 * other for other in range(ranks)])
    parts = [torch.empty(rank + 1, device=device) for _ in range(ranks)]
    dist.all_to_all(parts, [filled(rank, other + 1) for other in range(ranks)])
    same("all_to_all", torch.stack(parts), [[float(other)] * (rank + 1) for other in range(ranks)])
    if rank == 0:
        dist.send(torch.arange(4.0, device=device), 1)
    if rank == 1:
        x = torch.empty(4, device=device)
        dist.recv(x, 0)
        same("recv", x, [0.0, 1.0, 2.0, 3.0])
    there, back = filled(rank), torch.empty(3, device=device)
    around = [dist.P2POp(dist.isend, there, (rank + 1) % ranks), dist.P2POp(dist.irecv, back, (rank - 1) % ranks)]
    for work in dist.batch_isend_irecv(around):
        work.wait()
    same("batch_isend_irecv", back, [float((rank - 1) % ranks)] * 3)


def later():
    """Work that is waited for later, and lists of it."""
    tensors = [filled(rank + index) for index in range(5)]
    works = [dist.all_reduce(x, async_op=True) for x in tensors]
    for work in reversed(works):
        work.wait()
    both = ranks * (ranks - 1) / 2
    same("all_reduce later", torch.stack(tensors), [[both + ranks * index] * 3 for index in range(5)])
    whole = torch.empty(sum(range(1, ranks + 1)), device=device)
    counts = [other + 1 for other in range(ranks)]
    dist.all_to_all_single(whole, filled(rank, (rank + 1) * ranks), counts, [rank + 1] * ranks)
    same("all_to_all_single of parts", whole, [float(other) for other in range(ranks) for _ in range(other + 1)])
    x = filled(rank)
    dist.all_reduce(x, dist.ReduceOp.AVG)
    same("all_reduce mean", x, [(ranks - 1) / 2] * 3)
    told = [{"from": 0}] if rank == 0 else [None]
    dist.broadcast_object_list(told, 0)
    assert told == [{"from": 0}]


def normalized():
    """Batch norm of what all ranks have."""
    torch.manual_seed(4)
    alone, whole = nn.BatchNorm2d(3), torch.randn(2 * ranks, 3, 4, 4).requires_grad_()
    weights = torch.randn(whole.shape)
    (alone(whole) * weights).sum().backward()
    own = slice(2 * rank, 2 * rank + 2)
    shared = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(3)).to(device)
    shared = nn.parallel.DistributedDataParallel(shared, device_ids=[local])
    part = whole.detach()[own].to(device).requires_grad_()
    (shared(part) * weights[own].to(device)).sum().backward()
    found = {name: tensor.cpu() for name, tensor in shared.module.named_buffers()}
    for name, tensor in alone.named_buffers():
        assert torch.allclose(tensor, found[name], rtol=1e-4, atol=1e-5), name
    assert torch.allclose(whole.grad[own], part.grad.cpu(), rtol=1e-3, atol=1e-4)
    for a, b in zip(alone.parameters(), shared.parameters()):
        assert torch.allclose(a.grad / ranks, b.grad.cpu(), rtol=1e-3, atol=1e-4), (a.grad, b.grad)


def parts_of_a_model():
    """Each rank has a part of the weights, in two ways; the optimizer's state is spread in a third."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
    from torch.distributed.optim import ZeroRedundancyOptimizer

    def model():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def losses(model, optimizer, x):
        for _ in range(3):
            optimizer.zero_grad()
            loss = (model(x) ** 2).sum()
            loss.backward()
            optimizer.step()
            yield loss.item()

    adam = torch.optim.Adam
    x, alone = torch.linspace(-1, 1, 16).view(2, 8), model()
    expected = list(losses(alone, adam(alone.parameters(), lr=0.01), x))
    whole = FullyShardedDataParallel(model().to(device), device_id=local)
    newer = model().to(device)
    fully_shard(newer, mesh=init_device_mesh("npu", (ranks,)))
    spread = nn.parallel.DistributedDataParallel(model().to(device), device_ids=[local])
    optimizers = [adam(whole.parameters(), lr=0.01), adam(newer.parameters(), lr=0.01)]
    optimizers.append(ZeroRedundancyOptimizer(spread.parameters(), adam, lr=0.01))
    for way, optimizer in zip((whole, newer, spread), optimizers):
        found = list(losses(way, optimizer, x.to(device)))
        assert torch.allclose(torch.tensor(found), torch.tensor(expected), rtol=1e-3), (type(way), found, expected)


def some_of_them():
    group = dist.new_group([0, 1])
    if rank < 2:
        x = filled(1)
        dist.all_reduce(x, group=group)
        same("all_reduce of a group", x, [2.0] * 3)


def training():
    """All ranks together are as one process with all of their data."""
    data = torch.randn(ranks * 8, 6, generator=torch.Generator().manual_seed(5))
    wanted = data.sum(1, keepdim=True)

    def model():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    alone, shared = model(), nn.parallel.DistributedDataParallel(model().to(device), device_ids=[local])
    optimizers = [torch.optim.AdamW(it.parameters(), lr=0.02) for it in (alone, shared)]
    own = slice(8 * rank, 8 * rank + 8)
    for _ in range(5):
        for it, (x, y) in zip(optimizers, ((data, wanted), (data[own].to(device), wanted[own].to(device)))):
            it.zero_grad()
            loss = (((alone if it is optimizers[0] else shared)(x) - y) ** 2).mean()
            loss.backward()
            it.step()
    for a, b in zip(alone.parameters(), shared.module.parameters()):
        assert torch.allclose(a, b.cpu(), rtol=1e-4, atol=1e-5), (a, b)
        assert torch.allclose(a.grad, b.grad.cpu(), rtol=1e-4, atol=1e-5), (a.grad, b.grad)


for part in (all_reduce, gathering, reducing, exchanging, later, some_of_them, training, normalized, parts_of_a_model):
    part()
    dist.barrier()
    say(part.__name__, "good")
dist.destroy_process_group()
say("all good")
