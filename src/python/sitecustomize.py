# Put first on PYTHONPATH by `ascend-trace --python`. Prepares the ranges of PyTorch, then makes way for the
# `sitecustomize` that the interpreter would have found without this folder.
import sys


def _prepare():
    folder = __file__.rpartition("/")[0]
    try:
        import ascend_trace_torch

        ascend_trace_torch.watch()
        # Nobody else is to find it.
        del sys.modules["ascend_trace_torch"]
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
