/* Short fills in a row, which are held back until all are submitted, with another call in the middle of each row: `runs CALL...`.
 * A call is one of those below; `waited` waits for each fill, `asked` queries the stream long after its work, and `killed` kills the
 * program after many fills.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "program.h"

enum { ROW = 40, WARM = 12, BYTES = 8192, MANY = 20000 };

static atomic_int is_open;
static aclrtStream stream, other;
static aclrtEvent event;
static aclrtContext context;
static char *memory;

static void hold(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_open)) {
        usleep(50);
    }
}

static void nothing(void *unused)
{
    (void)unused;
}

static void fill(size_t bytes)
{
    DO(aclrtMemsetAsync(memory, 4 * BYTES, 0, bytes, stream));
}

static void row(void)
{
    for (int task = 0; task < ROW; task++) {
        fill(BYTES);
    }
}

static void *from_thread(void *unused)
{
    (void)unused;
    DO(aclrtSetCurrentContext(context));
    fill(BYTES);
    return NULL;
}

static aclmdlRI captured(void)
{
    aclmdlRI graph;

    DO(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    for (int node = 0; node < 3; node++) {
        fill(BYTES);
    }
    DO(aclmdlRICaptureEnd(stream, &graph));
    return graph;
}

static void do_call(const char *call, aclmdlRI graph)
{
    pthread_t thread;
    aclrtStreamStatus status;

    if (!strcmp(call, "record")) {
        DO(aclrtRecordEvent(event, stream));
    } else if (!strcmp(call, "wait")) {
        DO(aclrtRecordEvent(event, other));
        DO(aclrtStreamWaitEvent(stream, event));
    } else if (!strcmp(call, "copy")) {
        DO(aclrtMemcpyAsync(memory, BYTES, memory + BYTES, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    } else if (!strcmp(call, "other")) {
        fill(2 * BYTES);
    } else if (!strcmp(call, "host")) {
        DO(aclrtLaunchHostFunc(stream, nothing, NULL));
    } else if (!strcmp(call, "query")) {
        DO(aclrtStreamQuery(stream, &status));
    } else if (!strcmp(call, "capture")) {
        DO(aclmdlRIDestroy(captured()));
    } else if (!strcmp(call, "replay")) {
        DO(aclmdlRIExecuteAsync(graph, stream));
    } else if (!strcmp(call, "thread")) {
        require(!pthread_create(&thread, NULL, from_thread, NULL), "a thread");
        pthread_join(thread, NULL);
    } else if (!strcmp(call, "device")) {
        atomic_store(&is_open, 1);
        DO(aclrtSynchronizeDevice());
    } else if (strcmp(call, "none")) {
        require(0, call);
    }
}

static void held(const char *call, aclmdlRI graph)
{
    atomic_store(&is_open, 0);
    DO(aclrtLaunchHostFunc(stream, hold, NULL));
    row();
    do_call(call, graph);
    row();
    atomic_store(&is_open, 1);
    DO(aclrtSynchronizeStream(stream));
}

/* Rows of different lengths: some do not end with the end of a run. */
static void asked(void)
{
    aclrtStreamStatus status;

    for (int more = 0; more < 5; more++) {
        atomic_store(&is_open, 0);
        DO(aclrtLaunchHostFunc(stream, hold, NULL));
        row();
        for (int task = 0; task < more; task++) {
            fill(BYTES);
        }
        atomic_store(&is_open, 1);
        usleep(200000);
        DO(aclrtStreamQuery(stream, &status));
        require(status == ACL_STREAM_STATUS_COMPLETE, "the stream is done");
    }
}

int main(int argc, char **argv)
{
    aclmdlRI graph;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtGetCurrentContext(&context));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateStream(&other));
    DO(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    DO(aclrtMalloc((void **)&memory, 4 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    graph = captured();
    for (int turn = 0; turn < WARM; turn++) {
        held("none", graph);
    }
    for (int word = 1; word < argc; word++) {
        if (!strcmp(argv[word], "waited")) {
            for (int task = 0; task < 2 * ROW; task++) {
                fill(BYTES);
                DO(aclrtSynchronizeStream(stream));
            }
        } else if (!strcmp(argv[word], "asked")) {
            asked();
        } else if (!strcmp(argv[word], "killed")) {
            for (int task = 0; task < MANY; task++) {
                fill(BYTES);
            }
            raise(SIGKILL);
        } else {
            held(argv[word], graph);
        }
    }
    DO(aclmdlRIDestroy(graph));
    DO(aclrtFree(memory));
    DO(aclrtDestroyEvent(event));
    DO(aclrtDestroyStream(other));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
