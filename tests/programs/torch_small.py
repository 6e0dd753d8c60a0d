# A little of PyTorch on an NPU, with what its feature detection makes of the libraries.
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
sys.stdout.flush()
