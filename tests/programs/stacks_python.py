# Calls from every kind of frame that Python has. The first word says which.
import ctypes
import functools
import os
import sys
import threading

library = ctypes.CDLL("libascendcl.so")
library.aclInit(None)
library.aclrtSetDevice(0)
kept = []


def allocate():
    buffer = ctypes.c_void_p()
    kept.append(buffer)
    library.aclrtMalloc(ctypes.byref(buffer), ctypes.c_size_t(4096), 2)  # the call
    return buffer


def plain():
    return [
        1,
        allocate(),  # plain
    ]


def generator():
    def numbers():
        yield 1
        yield allocate()  # numbers

    for _ in numbers():  # generator
        pass


def recursion(left=40):
    if left == 0:
        return allocate()  # bottom
    return recursion(left - 1)  # recursion


def callback():
    def key(_):
        allocate()  # key
        return 0

    sorted([1], key=key)  # callback


class Net:
    def forward(self):
        self.layers = [layer() for layer in (allocate,)]  # forward

    def __call__(self):
        return self.forward()  # call


def method():
    Net()()  # method


def in_thread():
    library.aclrtSetDevice(0)
    for _ in range(25):
        allocate()  # thread


def threads():
    all_of_them = [threading.Thread(target=in_thread) for _ in range(4)]
    for it in all_of_them:
        it.start()
    for it in all_of_them:
        it.join()


# The call as a function of C, which has no frame.
def native():
    buffer = ctypes.c_void_p()
    return functools.partial(library.aclrtMalloc, ctypes.byref(buffer), ctypes.c_size_t(4096), 2)


# Each function is freed before the next one is made, which then often lies where it was.
def made():
    call = native()
    for number in range(200):
        names = {}
        source = "\n" * (number % 7) + "def made_%d(call):\n    call()\n" % (number % 5)
        exec(compile(source, "made/by_%d.py" % (number % 3), "exec"), names)
        names.popitem()[1](call)


# Names in which a character is of one byte, of two, and of four.
def names():
    for name in ("größe", "模型", "𝔐odel"):
        space = {}
        exec(compile("def f(call):\n  call()\n", "net/%s.py" % name, "exec"), space)
        space["f"](native())


def child():
    pid = os.fork()
    if pid == 0:
        allocate()  # child
        os._exit(0)
    os.waitpid(pid, 0)
    allocate()  # parent


# Threads that are in calls while the interpreter ends.
def daemons():
    def busy():
        library.aclrtSetDevice(0)
        count = ctypes.c_uint32()
        while True:
            library.aclrtGetDeviceCount(ctypes.byref(count))

    for _ in range(4):
        threading.Thread(target=busy, daemon=True).start()
    allocate()


# Many calls from one place, so that somebody can measure them.
def many():
    count, call = ctypes.byref(ctypes.c_uint32()), library.aclrtGetDeviceCount
    for _ in range(int(sys.argv[2])):
        call(count)


def interpreter():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    code = "import ctypes; b = ctypes.c_void_p(); l = ctypes.CDLL('libascendcl.so'); l.aclrtMalloc(ctypes.byref(b), ctypes.c_size_t(4096), 2)"
    interpreters.run_string(interpreters.create(), code)


globals()[sys.argv[1]]()
