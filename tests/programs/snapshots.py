# Asks for a snapshot of the recording, and waits for a line before its end.
import sys

import ascend_trace

with ascend_trace.range("before"):
    pass
ascend_trace.snapshot("loss is nan\0!")
try:
    ascend_trace.snapshot(3)
except TypeError as error:
    print(error)
sys.stdin.readline()
