/* Fills of chosen lengths, in batches that are held back until all of them were submitted: `budget THREADS BATCHES PHASE...`.
 * A phase is a number of nanoseconds, `mixed`, `idle` or `graphs`; each thread has a stream, and goes through all phases.
 * Fills take a nanosecond for each byte.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

enum { TASKS = 300, NODES = 10, MOST_BYTES = 4 << 20 };

static long batches;
static int phases;
static char **phase;

struct line {
    atomic_int is_open;
    aclrtStream stream;
    void *memory;
};

static void hold(void *line)
{
    while (!atomic_load(&((struct line *)line)->is_open)) {
        usleep(50);
    }
}

static void fill(struct line *line, size_t bytes)
{
    DO(aclrtMemsetAsync(line->memory, MOST_BYTES, 0, bytes, line->stream));
}

/* Mostly short tasks, some of other lengths. */
static size_t mixed(int task)
{
    return task % 50 == 49 ? 200000 : task % 10 == 9 ? 30000 : task % 3 ? 2000 : 5000;
}

static void batch(struct line *line, size_t bytes, aclmdlRI graph)
{
    atomic_store(&line->is_open, 0);
    DO(aclrtLaunchHostFunc(line->stream, hold, line));
    for (int task = 0; task < TASKS; task++) {
        if (graph) {
            if (task % NODES == 0) {
                DO(aclmdlRIExecuteAsync(graph, line->stream));
            }
        } else {
            fill(line, bytes ? bytes : mixed(task));
        }
    }
    atomic_store(&line->is_open, 1);
    DO(aclrtSynchronizeStream(line->stream));
}

static void idle(struct line *line)
{
    for (int task = 0; task < TASKS; task++) {
        fill(line, 10000);
        DO(aclrtSynchronizeStream(line->stream));
    }
}

static aclmdlRI captured(struct line *line)
{
    aclmdlRI graph;

    DO(aclmdlRICaptureBegin(line->stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    for (int node = 0; node < NODES; node++) {
        fill(line, 2000);
    }
    DO(aclmdlRICaptureEnd(line->stream, &graph));
    return graph;
}

static void *run(void *unused)
{
    struct line line = {0};

    (void)unused;
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&line.stream));
    DO(aclrtMalloc(&line.memory, MOST_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int number = 0; number < phases; number++) {
        aclmdlRI graph = strcmp(phase[number], "graphs") ? NULL : captured(&line);
        for (long turn = 0; turn < batches; turn++) {
            if (strcmp(phase[number], "idle")) {
                batch(&line, (size_t)atol(phase[number]), graph);
            } else {
                idle(&line);
            }
        }
        if (graph) {
            DO(aclmdlRIDestroy(graph));
        }
    }
    DO(aclrtDestroyStream(line.stream));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[64];
    int threads = argc > 1 ? atoi(argv[1]) : 1;

    require(argc > 3 && threads > 0 && threads <= 64, "arguments");
    batches = atol(argv[2]);
    phases = argc - 3;
    phase = argv + 3;
    DO(aclInit(NULL));
    for (int i = 0; i < threads; i++) {
        require(!pthread_create(&thread[i], NULL, run, NULL), "a thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    DO(aclFinalize());
    return 0;
}
