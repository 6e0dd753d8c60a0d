# ONNX Runtime on an NPU: a small convolutional model, compared with the provider for CPUs.
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

numbers = np.random.default_rng(0)
weights = []


def weight(name, *shape):
    values = (0.3 * numbers.standard_normal(shape)).astype(np.float32)
    weights.append(numpy_helper.from_array(values, name))
    return name


def node(kind, *inputs, **attributes):
    output = f"{kind.lower()}{len(nodes)}"
    nodes.append(helper.make_node(kind, list(inputs), [output], name=f"node-{output}", **attributes))
    return output


nodes = []
value = "x"
for channels_in, channels, pool in ((3, 8, "MaxPool"), (8, 16, "AveragePool")):
    kernel = weight(f"kernel{channels}", channels, channels_in, 3, 3)
    value = node("Conv", value, kernel, weight(f"bias{channels}", channels), kernel_shape=[3, 3], pads=[1] * 4)
    value = node(pool, node("Relu", value), kernel_shape=[2, 2], strides=[2, 2])
value = node("Flatten", value)
value = node("Gemm", value, weight("dense", 64, 32), weight("shift", 32))
value = node("MatMul", node("Relu", value), weight("last", 32, 10))
value = node("Add", value, weight("end", 10))

graph = helper.make_graph(
    nodes,
    "small",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 8, 8])],
    [helper.make_tensor_value_info(value, TensorProto.FLOAT, [2, 10])],
    weights,
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnxruntime.set_default_logger_severity(3)


def results(provider, options):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=[(provider, options)])
    assert session.get_providers()[0] == provider, session.get_providers()
    inputs = np.random.default_rng(1).standard_normal((5, 2, 3, 8, 8)).astype(np.float32)
    return np.stack([session.run(None, {"x": batch})[0] for batch in inputs])


expected = results("CPUExecutionProvider", {})
found = results("CANNExecutionProvider", {"device_id": 0, "enable_cann_graph": "0"})
error = float(np.abs(found - expected).max() / np.abs(expected).max())
print(f"batches: {len(found)}, within 1e-5: {error < 1e-5}, checksum: {found.sum():.4f}")
