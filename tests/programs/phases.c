/* A made-up program of any length: two devices, a thread and four streams each, and tasks in
 * phases. In a busy phase the streams have a queue and wait for each other; in a starved one the
 * host hands tasks over one by one to streams that are waiting for them; in between they idle.
 * Arguments: how many tasks, a seed, and `kernels` where tasks are to be kernels instead of fills. */
#include <time.h>

#include "kernels.h"

enum { DEVICES = 2, STREAMS = 4, EVENTS = 16, BYTES = 4096, BURST = 48, KERNELS = 16 };

struct worker {
    int device;
    unsigned long left;
    uint64_t random;
    aclrtStream streams[STREAMS];
    aclrtEvent events[EVENTS];
    unsigned next_event;
    char *buffer;
    int is_of_kernels;
    aclOpExecutor *kernels[KERNELS];
};

static unsigned below(struct worker *worker, unsigned limit)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return (unsigned)((worker->random >> 33) % limit);
}

static int counts(struct worker *worker)
{
    if (worker->left == 0) {
        return 0;
    }
    worker->left--;
    return 1;
}

static void fill(struct worker *worker, unsigned stream, unsigned bytes)
{
    if (!counts(worker)) {
        return;
    }
    if (worker->is_of_kernels) {
        launch(worker->kernels[bytes * KERNELS / (BYTES + 1)], worker->streams[stream]);
    } else {
        DO(aclrtMemsetAsync(worker->buffer + stream * BYTES, BYTES, 1, bytes,
                            worker->streams[stream]));
    }
}

/* Makes one stream wait for what another has been given so far. */
static void depend(struct worker *worker, unsigned waiting, unsigned awaited)
{
    aclrtEvent event = worker->events[worker->next_event++ % EVENTS];

    if (waiting != awaited && worker->left >= 2) {
        worker->left -= 2;
        DO(aclrtRecordEvent(event, worker->streams[awaited]));
        DO(aclrtStreamWaitEvent(worker->streams[waiting], event));
    }
}

static void rest(unsigned ns)
{
    struct timespec time = {0, ns};

    nanosleep(&time, NULL);
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

static void busy(struct worker *worker)
{
    for (int i = 0; i < 4 * BURST; i++) {
        unsigned stream = below(worker, STREAMS);

        fill(worker, stream, 1024 + below(worker, BYTES - 1024));
        if (below(worker, 8) == 0) {
            depend(worker, stream, below(worker, STREAMS));
        }
    }
}

static void starved(struct worker *worker)
{
    for (int i = 0; i < BURST; i++) {
        fill(worker, below(worker, STREAMS), 64 + below(worker, 512));
        compute(below(worker, 60000));
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    DO(aclrtSetDevice(worker->device));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&worker->streams[i]));
    }
    for (int i = 0; i < EVENTS; i++) {
        DO(aclrtCreateEventExWithFlag(&worker->events[i], ACL_EVENT_SYNC));
    }
    DO(aclrtMalloc((void **)&worker->buffer, STREAMS * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; worker->is_of_kernels && i < KERNELS; i++) {
        worker->kernels[i] = kernel_of(worker->buffer, 4 * (i + 1));
    }
    while (worker->left > 0) {
        switch (below(worker, 4)) {
        case 0:
        case 1:
            busy(worker);
            break;
        case 2:
            starved(worker);
            break;
        default:
            DO(aclrtSynchronizeStream(worker->streams[below(worker, STREAMS)]));
            rest(100000 + below(worker, 2000000));
        }
        if (below(worker, 3) == 0) {
            DO(aclrtSynchronizeDevice());
        }
    }
    DO(aclrtSynchronizeDevice());
    return NULL;
}

int main(int count, char **words)
{
    static struct worker workers[DEVICES];
    pthread_t threads[DEVICES];
    unsigned long tasks = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
    uint64_t seed = count > 2 ? strtoull(words[2], NULL, 10) : 1;

    DO(aclInit(NULL));
    for (int i = 0; i < DEVICES; i++) {
        workers[i].device = i;
        workers[i].left = tasks / DEVICES;
        workers[i].is_of_kernels = count > 3 && strcmp(words[3], "kernels") == 0;
        workers[i].random = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15u | 1;
        require(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "a thread starts");
    }
    for (int i = 0; i < DEVICES; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%lu tasks\n", tasks / DEVICES * DEVICES);
    return 0;
}
