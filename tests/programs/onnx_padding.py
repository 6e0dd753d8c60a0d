# ONNX Runtime on an NPU: nodes with a padding by a word, or by numbers, compared with the provider for CPUs.
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

onnxruntime.set_default_logger_severity(4)
IMAGE = np.random.default_rng(0).standard_normal((1, 2, 9, 10)).astype(np.float32)
KERNEL = np.random.default_rng(1).standard_normal((3, 2, 3, 3)).astype(np.float32)
# The kinds of nodes, and the dimensions of their images.
DIMENSIONS = {"Conv": 2, "Conv1D": 1, "MaxPool": 2, "AveragePool": 2}


def result(provider, kind, options, **attributes):
    dimensions = DIMENSIONS[kind]
    kind = kind.removesuffix("1D")
    image, kernel = (IMAGE, KERNEL) if dimensions == 2 else (IMAGE[:, :, 0], KERNEL[:, :, 0])
    inputs = {"x": image} | ({"kernel": kernel} if kind == "Conv" else {})
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in inputs.items()]
    node = helper.make_node(kind, list(inputs), ["y"], kernel_shape=[3] * dimensions, **attributes)
    graph = helper.make_graph([node], "one", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 7)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=[(provider, options)])
    return session.run(None, inputs)[0]


for kind, attributes in [
    ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ("Conv", {"auto_pad": "VALID"}),
    ("Conv", {"pads": [1, 1, 1, 1], "strides": [2, 1]}),
    ("Conv1D", {"pads": [1, 1], "strides": [2], "dilations": [2]}),
    ("MaxPool", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("AveragePool", {"auto_pad": "VALID"}),
    # ONNX has the padding in front of all dimensions first, and ONNX Runtime passes the numbers on in this order. AscendCL has
    # the numbers of a dimension together.
    ("Conv", {"pads": [0, 1, 2, 0]}),
    ("MaxPool", {"pads": [1, 2, 1, 2]}),
    ("AveragePool", {"pads": [0, 1, 2, 0]}),
]:
    expected = result("CPUExecutionProvider", kind, {}, **attributes)
    try:
        found = result("CANNExecutionProvider", kind, {"device_id": 0, "enable_cann_graph": "0"}, **attributes)
        words = "alike" if found.shape == expected.shape and np.allclose(found, expected, atol=1e-5) else "differs"
    except Exception:
        words = "refused"
    print(kind, attributes.get("auto_pad") or attributes.get("pads"), words)
