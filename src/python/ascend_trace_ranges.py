# What the hooks of PyTorch and MindSpore share: how they wait for an import, and how they tell ranges to the tracer.
#
# Nothing is imported before the program imports a framework. The functions that take the ranges are in the library that
# `ascend-trace` preloads.
import sys
from importlib.machinery import ModuleSpec

# What a range is, as `ascend_trace_format::range::RangeKind` has it.
STEP, PHASE, MODULE, LOADER, FUNCTION, FETCH = range(1, 7)


class _Told(ModuleSpec):
    """The spec of a module that tells when its import is over.

    The import system clears `_initializing` last, whether or not the module could be run. No frame of this file is
    on the stack while the module runs, so errors of the import look as they always do.
    """

    def __setattr__(self, name, value):
        ModuleSpec.__setattr__(self, name, value)
        if name == "_initializing" and not value:
            finder = self.__dict__.pop("_ascend_trace_finder", None)
            self.__class__ = ModuleSpec
            if finder is not None and self.name in sys.modules:
                finder.is_there(self.name)


class _Finder:
    """Waits for modules by name, and leaves the finding to the others."""

    def __init__(self, wanted):
        self.wanted = wanted

    def find_spec(self, name, path=None, target=None):
        # A program may look for a module long before it imports it, or without.
        if name not in self.wanted:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if find is None or finder is self else find(name, path, target)
            if spec is not None:
                if type(spec) is ModuleSpec:
                    spec.__dict__["_ascend_trace_finder"] = self
                    spec.__class__ = _Told
                return spec
        return None

    def is_there(self, name):
        then = self.wanted.pop(name, None)
        if not self.wanted:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        if then is not None:
            try:
                then(sys.modules[name])
            except Exception:
                pass


def watch(name, then):
    """Calls `then` with a module, once the program has imported it."""
    sys.meta_path.insert(0, _Finder({name: then}))


def install(module, teller, installers, later):
    """Installs the parts of a hook. Those in `later` belong to modules that may not be imported yet."""
    for installer in installers:
        _try(installer, module, teller)
    wanted = {}
    for name, installer in later:
        there = sys.modules.get(name)
        if there is None:
            wanted[name] = lambda it, installer=installer: installer(it, teller)
        else:
            _try(installer, there, teller)
    if wanted:
        sys.meta_path.insert(0, _Finder(wanted))


def _try(installer, module, teller):
    # A part that fits no longer is left out.
    try:
        installer(module, teller)
    except Exception:
        pass


class Teller:
    """Tells ranges to the tracer, with what it takes to know when a step ends."""

    def __init__(self, begin, end, forget, turn, over, name_thread):
        import atexit
        import threading

        self.begin, self.end, self.forget, self.name_thread = begin, end, forget, name_thread
        self.turn, self.over = turn, over
        # The thread that has steps: the first one that begins something.
        self.here, self.thread = threading.get_ident, None
        # The optimizer whose steps end those of the program, and another one that has made one since.
        self.optimizer = self.other = None
        self.step, self.number, self.since = 0, 0, 0
        # What comes after the last step of an optimizer is none.
        atexit.register(lambda: self.forget(self.step))

    @classmethod
    def find(cls):
        import ctypes

        # The calls are short: the interpreter's lock is kept.
        own = ctypes.PyDLL(None)
        try:
            begin, end, forget, turn, over, name_thread = (
                own.ascend_trace_range_begin,
                own.ascend_trace_range_end,
                own.ascend_trace_range_forget,
                own.ascend_trace_range_turn,
                own.ascend_trace_range_over,
                own.ascend_trace_thread_name,
            )
        except AttributeError:
            return None
        begin.restype, begin.argtypes = ctypes.c_uint64, (ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64)
        end.restype, end.argtypes = ctypes.c_uint64, (ctypes.c_uint64,)
        forget.restype, forget.argtypes = None, (ctypes.c_uint64,)
        turn.restype, turn.argtypes = None, (ctypes.c_char_p, ctypes.py_object)
        over.restype, over.argtypes = None, ()
        name_thread.restype, name_thread.argtypes = None, (ctypes.c_char_p,)
        return cls(begin, end, forget, turn, over, name_thread)

    def begins(self):
        """Something of a step begins: the loading of data, or a phase."""
        if self.step:
            return
        here = self.here()
        if self.thread is None:
            self.thread = here
        if self.thread == here:
            # What came since the step before belongs to it.
            self.step = self.begin(STEP, b"step %d" % self.number, self.since)

    def optimized(self, key):
        """The optimizer with this `id` has made its step. Others may follow in the same step of the program."""
        if self.thread != self.here() or not self.step:
            return
        # The first one may have done its work, and another go on.
        if self.optimizer is None or self.other == key:
            self.optimizer = key
        if self.optimizer != key:
            self.other = self.other or key
            return
        self.other = None
        self.since = self.end(self.step)
        self.step, self.number = 0, self.number + 1


def text_of(name):
    return str(name).encode("utf-8", "replace").replace(b"\0", b" ")


def passing(function, kind, name, teller, first=None, compiling=lambda: False, last=lambda: None):
    """The function with a range around it. Errors that pass show no frame of this file."""
    import functools

    begin, end = teller.begin, teller.end

    @functools.wraps(function)
    def around(*args, **kwargs):
        if compiling():
            return function(*args, **kwargs)
        if first is not None:
            first()
        number = begin(kind, name, 0)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            last()
            end(number)

    return around
