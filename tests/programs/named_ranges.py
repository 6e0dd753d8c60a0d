# Ranges of a program that uses the module `ascend_trace`: nested, in a decorator, in threads, after an error, and steps.
import threading

import ascend_trace

with ascend_trace.range("outer"):
    with ascend_trace.range("inner é\0x"):
        pass


@ascend_trace.range("decorated")
def call(times):
    return times if times == 0 else call(times - 1)


call(2)
try:
    with ascend_trace.range("failing"):
        raise ValueError("an error of the program")
except ValueError as error:
    print(error)
for _ in range(3):
    with ascend_trace.step():
        call(0)
with ascend_trace.step("last step"):
    ascend_trace.mark("a mark")
with ascend_trace.paused():
    with ascend_trace.range("not recorded"):
        pass
threads = [threading.Thread(target=call, args=(1,)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for wrong in [lambda: ascend_trace.range(3), lambda: ascend_trace.range("generator")(generator)]:

    def generator():
        yield 1

    try:
        wrong()
    except TypeError as error:
        print(error)
