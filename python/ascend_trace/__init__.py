"""Name the ranges of a program for ascend-trace, and read its recordings.

Ranges cost next to nothing while nothing is recorded::

    import ascend_trace

    with ascend_trace.range("load batch"):
        ...

Leave out what does not matter::

    with ascend_trace.paused():
        ...

A recording is read through the command `ascend-trace`::

    recording = ascend_trace.open("run.atrace")
    recording.tasks()  # an Arrow table
"""

from ._ranges import is_recording, mark, pause, paused, range, resume, snapshot, step
from ._recording import Error, Recording, open

__all__ = [
    "Error",
    "Recording",
    "is_recording",
    "mark",
    "open",
    "pause",
    "paused",
    "range",
    "resume",
    "snapshot",
    "step",
]
