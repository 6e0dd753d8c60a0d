# Does what the lines of its input say, and checks every result.
#   load     loads the runtime
#   fill N   fills N * 64 bytes, copies them to the host, and compares
#   worker   starts a child that takes over the input, and waits for it
#   end      ends
import ctypes
import os
import sys

MOST = 1 << 16
TO_HOST = 2
RIGHT = 7


def say(word, number):
    print(word, number, flush=True)


def must(code):
    if code != 0:
        sys.exit(f"a call failed with {code}")


class Runtime:
    def __init__(self):
        self.acl = ctypes.CDLL("libascendcl.so")
        self.stream, self.buffer = ctypes.c_void_p(), ctypes.c_void_p()
        must(self.acl.aclInit(None))
        must(self.acl.aclrtSetDevice(0))
        must(self.acl.aclrtCreateStream(ctypes.byref(self.stream)))
        must(self.acl.aclrtMalloc(ctypes.byref(self.buffer), ctypes.c_size_t(MOST), 0))

    def fill(self, number):
        size, most = ctypes.c_size_t(number * 64), ctypes.c_size_t(MOST)
        host = ctypes.create_string_buffer(number * 64)
        must(self.acl.aclrtMemsetAsync(self.buffer, most, number, size, self.stream))
        must(self.acl.aclrtSynchronizeStream(self.stream))
        must(self.acl.aclrtMemcpy(host, size, self.buffer, size, TO_HOST))
        if host.raw != bytes([number]) * (number * 64):
            sys.exit("the copy has another value than the fill")


runtime = None
say("pid", os.getpid())
for line in iter(sys.stdin.readline, ""):
    word, *rest = line.split()
    if word == "load":
        runtime = Runtime()
        say("loaded", 0)
    elif word == "fill":
        runtime.fill(int(rest[0]))
        say("filled", rest[0])
    elif word == "worker":
        child = os.fork()
        if child:
            say("worker", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        else:
            say("pid", os.getpid())
    elif word == "end":
        break
sys.exit(RIGHT)
