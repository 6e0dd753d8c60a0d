# A little of PyTorch on an NPU, with what its feature detection makes of the libraries: operators,
# a backward pass (a thread of its own), a second stream, pinned memory, events.
import sys

import torch
import torch_npu

print("available:", torch.npu.is_available(), torch.npu.device_count())
device = torch.device("npu:0")
left = torch.arange(12, dtype=torch.float32).reshape(3, 4).to(device)
right = torch.ones(3, 4, device=device)
total = (left + right) * 2
event = torch.npu.Event(enable_timing=True)
event.record()
torch.npu.synchronize()
print(total.cpu().tolist(), event.query())

stream = torch.npu.Stream()
pinned = torch.arange(12, dtype=torch.float32).reshape(3, 4).pin_memory()
with torch.npu.stream(stream):
    stream.wait_event(event)
    copied = pinned.to(device, non_blocking=True)
    later = copied + copied
    done = torch.npu.Event(enable_timing=True)
    done.record()
torch.npu.current_stream().wait_stream(stream)
stream.synchronize()
print(later.cpu().tolist(), event.elapsed_time(done) > 0)

weight = torch.ones(3, 4, device=device, requires_grad=True)
(weight * 3).backward(torch.ones(3, 4, device=device))
print(weight.grad.cpu().tolist())
sys.stdout.flush()
