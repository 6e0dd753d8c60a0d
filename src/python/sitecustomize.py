# Put first on PYTHONPATH by `ascend-trace --python`. Prepares the ranges of PyTorch and MindSpore, then makes way for the
# `sitecustomize` that the interpreter would have found without this folder.
import sys


def _prepare():
    folder = __file__.rpartition("/")[0]
    try:
        import ascend_trace_ranges
        from ascend_trace_mindspore import mindspore_is_there
        from ascend_trace_torch import torch_is_there

        ascend_trace_ranges.watch("torch", torch_is_there)
        ascend_trace_ranges.watch("mindspore", mindspore_is_there)
        # Nobody else is to find them.
        for name in ("ascend_trace_ranges", "ascend_trace_torch", "ascend_trace_mindspore"):
            del sys.modules[name]
    except Exception:
        # The program comes first: without ranges it runs all the same.
        pass
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    sys.path_importer_cache.pop(folder, None)


def _make_way():
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize
    except ImportError as error:
        # None but this one: as `site` does.
        if error.name != "sitecustomize":
            raise
    finally:
        # Who imports this module expects to find one.
        sys.modules.setdefault("sitecustomize", own)


_prepare()
_make_way()
