"""Ranges of a thread's time, pauses and snapshots of the recording, as the preloaded library of `ascend-trace` takes them."""

import ctypes
import inspect
import itertools
from contextlib import ContextDecorator, contextmanager
from typing import Any, Callable, Iterator, List, Optional, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What a range is. The tracer's library has the same numbers.
_STEP, _FUNCTION = 1, 5

_STEPS = itertools.count()


class _Tracer:
    """The functions of the tracer's library, or what does nothing where it is not loaded."""

    def __init__(self) -> None:
        # The calls are short: the interpreter's lock is kept.
        own = ctypes.PyDLL(None)
        try:
            begin, end = own.ascend_trace_range_begin, own.ascend_trace_range_end
            pause, resume = own.ascend_trace_pause, own.ascend_trace_resume
        except AttributeError:
            self.begin: Optional[Any] = None
            self.end: Optional[Any] = None
            self.pause: Optional[Any] = None
            self.resume: Optional[Any] = None
            self.snapshot: Optional[Any] = None
            return
        for function in (pause, resume):
            function.restype, function.argtypes = None, ()
        self.pause, self.resume = pause, resume
        # An earlier command has no snapshots.
        self.snapshot = getattr(own, "ascend_trace_snapshot", None)
        if self.snapshot is not None:
            self.snapshot.restype, self.snapshot.argtypes = None, (ctypes.c_char_p,)
        begin.restype, begin.argtypes = ctypes.c_uint64, (ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64)
        end.restype, end.argtypes = ctypes.c_uint64, (ctypes.c_uint64,)
        self.begin, self.end = begin, end


_TRACER = _Tracer()


def _begin(kind: int, name: str) -> int:
    if _TRACER.begin is None:
        return 0
    return int(_TRACER.begin(kind, _c_string(name), 0))


def _c_string(text: str) -> bytes:
    # A C string ends at the first NUL.
    return text.encode("utf-8", "replace").replace(b"\0", b" ")


def _end(id: int) -> None:
    if id and _TRACER.end is not None:
        _TRACER.end(id)


def is_recording() -> bool:
    """Return whether the process was started by `ascend-trace`.

    It is also true if the recorder has gone since; ranges then do nothing.
    """
    return _TRACER.begin is not None


class range(ContextDecorator):
    """A named range of the calling thread: a context manager, or a decorator of a function.

    A range must end in the thread in which it began. Ranges may be nested.
    """

    _kind = _FUNCTION

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a range is a str, not {type(name).__name__}")
        self.name = name
        self._ids: List[int] = []

    def _recreate_cm(self) -> "range":
        # Threads may run one decorated function at the same time.
        return type(self)(self.name)

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(
                f"{function.__qualname__} gives its thread away before it returns: "
                "use `with ascend_trace.range(…)` around code that does not"
            )
        return super().__call__(function)

    def __enter__(self) -> "range":
        self._ids.append(_begin(self._kind, self.name))
        return self

    def __exit__(self, *_: object) -> None:
        _end(self._ids.pop())


class step(range):
    """A step of a training loop, for `ascend-trace steps`. Without a name, steps are numbered."""

    _kind = _STEP

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__("step" if name is None else name)
        self._is_numbered = name is None

    def _recreate_cm(self) -> "step":
        return step(None if self._is_numbered else self.name)

    def __enter__(self) -> "step":
        if self._is_numbered:
            self.name = f"step {next(_STEPS)}"
        super().__enter__()
        return self


def mark(name: str) -> None:
    """Record that something happened now: a range that ends where it begins."""
    with range(name):
        pass


def pause() -> None:
    """Record no calls and tasks of this process until :func:`resume`.

    Streams, events, contexts, memory, captures and mstx ranges are still recorded. Without effect if the recording is
    paused already.
    """
    if _TRACER.pause is not None:
        _TRACER.pause()


def resume() -> None:
    """Record everything again. Any thread may do that. Without effect if the recording is not paused."""
    if _TRACER.resume is not None:
        _TRACER.resume()


@contextmanager
def paused() -> Iterator[None]:
    """Pause the recording inside of a ``with`` statement."""
    pause()
    try:
        yield
    finally:
        resume()


def snapshot(reason: str = "the program") -> None:
    """Ask for a snapshot of the recording's last part, a trace file that stays, with this reason in it.

    Returns at once. Without ``--ring`` the recording only gets a mark.
    """
    if not isinstance(reason, str):
        raise TypeError(f"a reason is a str, not {type(reason).__name__}")
    if _TRACER.snapshot is not None:
        _TRACER.snapshot(_c_string(reason))
