# Reads a recording by the module `ascend_trace`: words are the recording, and a file that is none.
import sys

import ascend_trace

_, file, other = sys.argv
with ascend_trace.open(file) as recording:
    print(recording.names())
    print(recording.info()["schema"], recording.stats()["schema"], recording.steps()["schema"])
    try:
        import pyarrow

        tasks = recording.tasks()
        print(type(tasks).__name__, tasks.num_rows, "begin_ns" in tasks.column_names)
        print(len(ascend_trace.open(file, only=["kind=no such kind"]).tasks()))
    except ImportError as error:
        print("no pyarrow:", error)
    try:
        recording.table("nonsense")
    except (KeyError, ImportError) as error:
        print(type(error).__name__)


def refused(read):
    try:
        read()
    except (ascend_trace.Error, OSError, TypeError) as error:
        print(type(error).__name__, str(error).replace(other, "OTHER"))


refused(lambda: ascend_trace.open("/nonexistent/run.atrace"))
refused(lambda: ascend_trace.open(other).info())
refused(lambda: ascend_trace.open(file, range="x").names())
refused(lambda: ascend_trace.open(file, only="device=0"))
