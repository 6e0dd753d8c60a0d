/* A made-up program: kernels, fills and copies of a few durations on two streams, in stretches chosen by a seed. In some
 * the streams have a queue, in some the host computes between two tasks, in some one stream waits for the other, and in
 * some a graph is replayed. Arguments: a seed, how many tasks, which stretches (`q`, `h`, `w`, `g`), and `stop` where
 * another process takes the processor away from this one for 20 ms at a time. */
#include <signal.h>
#include <time.h>

#include "kernels.h"

enum { STREAMS = 2, BYTES = 1 << 20, KERNELS = 4, SIZES = 4 };

static uint64_t random_state;
static unsigned long left;
static aclrtStream streams[STREAMS];
static aclOpExecutor *kernels[KERNELS];
static size_t sizes[SIZES];
static char *memory;

static unsigned below(unsigned limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 33) % limit);
}

/* Keeps the host busy without giving its processor away. */
static void compute(unsigned ns)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < (long)ns);
}

static void task(aclrtStream stream)
{
    unsigned which = below(KERNELS + 2 * SIZES);

    if (left > 0) {
        left--;
    }
    if (which < KERNELS) {
        launch(kernels[which], stream);
    } else if (which < KERNELS + SIZES) {
        size_t size = sizes[which - KERNELS];
        DO(aclrtMemsetAsync(memory, BYTES, 1, size, stream));
    } else {
        size_t size = sizes[which - KERNELS - SIZES];
        DO(aclrtMemcpyAsync(memory, BYTES, memory + BYTES, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    }
}

static void queued(void)
{
    aclrtStream stream = streams[below(STREAMS)];

    for (int i = 0; i < 200 && left > 0; i++) {
        task(stream);
    }
    DO(aclrtSynchronizeStream(stream));
}

static void host_bound(void)
{
    aclrtStream stream = streams[below(STREAMS)];

    for (int i = 0; i < 60 && left > 0; i++) {
        task(stream);
        compute(20000 + below(180000));
    }
    DO(aclrtSynchronizeStream(stream));
}

static void waiting(aclrtEvent event)
{
    for (int i = 0; i < 20 && left > 0; i++) {
        unsigned first = below(STREAMS);

        for (int j = 0; j < 5; j++) {
            task(streams[first]);
        }
        DO(aclrtRecordEvent(event, streams[first]));
        DO(aclrtStreamWaitEvent(streams[1 - first], event));
        task(streams[1 - first]);
        DO(aclrtSynchronizeDevice());
    }
}

static void replayed(aclmdlRI graph)
{
    for (int i = 0; i < 20 && left > 0; i++) {
        DO(aclmdlRIExecuteAsync(graph, streams[0]));
        task(streams[0]);
        if (below(2)) {
            compute(50000);
        }
    }
    DO(aclrtSynchronizeStream(streams[0]));
}

/* Stops this process again and again, until it ends. */
static void be_stopped(void)
{
    pid_t own = getpid();

    if (fork() == 0) {
        while (getppid() == own) {
            usleep(20000 + below(60000));
            kill(own, SIGSTOP);
            usleep(20000);
            kill(own, SIGCONT);
        }
        _exit(0);
    }
}

int main(int count, char **words)
{
    const char *stretches = words[3];
    aclmdlRI graph = NULL;
    aclrtEvent event;

    require(count > 3, "a seed, a number of tasks, and stretches");
    random_state = strtoull(words[1], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
    left = strtoul(words[2], NULL, 10);
    if (count > 4 && strcmp(words[4], "stop") == 0) {
        be_stopped();
    }
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc((void **)&memory, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < KERNELS; i++) {
        kernels[i] = kernel_of(memory, 1 << (4 + below(14)));
    }
    for (int i = 0; i < SIZES; i++) {
        sizes[i] = (size_t)64 << below(14);
    }
    DO(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    if (strchr(stretches, 'g') != NULL) {
        DO(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        for (int i = 0; i < 6; i++) {
            launch(kernels[i % KERNELS], streams[0]);
        }
        DO(aclmdlRICaptureEnd(streams[0], &graph));
    }
    while (left > 0) {
        switch (stretches[below(strlen(stretches))]) {
        case 'q':
            queued();
            break;
        case 'h':
            host_bound();
            break;
        case 'w':
            waiting(event);
            break;
        default:
            replayed(graph);
        }
    }
    DO(aclrtSynchronizeDevice());
    if (graph != NULL) {
        DO(aclmdlRIDestroy(graph));
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
