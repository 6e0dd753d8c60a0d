# Four steps of a loop that names them by the module `ascend_trace`, and a range in each.
import ascend_trace
import torch
import torch_npu  # noqa: F401

weight = torch.full((16, 16), 0.5, device="npu")
value = torch.ones(16, 16, device="npu")
for _ in range(4):
    with ascend_trace.step():
        with ascend_trace.range("multiply"):
            value = torch.relu(value @ weight)
        torch.npu.synchronize()
print(float(value.sum()))
