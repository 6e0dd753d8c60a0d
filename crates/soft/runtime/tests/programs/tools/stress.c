/* stress SECONDS: threads submit random work to 64 streams on two devices and compare what comes
 * out with what a sequential machine computes. */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, LANES = 16, SLOTS = 512, ROUND = 400 };

struct lane {
    int device;
    aclrtStream stream;
    uint32_t *cell;
    uint32_t expected;
    int expected_calls, calls;
};

struct worker {
    pthread_t thread;
    uint64_t seed;
    double seconds;
    long rounds, tasks;
    int bad;
    struct lane lanes[LANES];
    aclrtEvent events[SLOTS];
    uint32_t *slots[SLOTS];
};

static aclrtContext contexts[2];

static uint64_t draw(struct worker *worker, uint64_t below)
{
    worker->seed ^= worker->seed << 13;
    worker->seed ^= worker->seed >> 7;
    worker->seed ^= worker->seed << 17;
    return worker->seed % below;
}

#define DO(call)                                                                            \
    do {                                                                                    \
        int code_ = (call);                                                                 \
        worker->tasks++;                                                                    \
        if (code_ != 0) {                                                                   \
            worker->bad++;                                                                  \
            fprintf(stderr, "%s: %d\n", #call, code_);                                      \
        }                                                                                   \
    } while (0)

static void enter(struct worker *worker, struct lane *lane)
{
    DO(aclrtSetCurrentContext(contexts[lane->device]));
}

/* One lane hands its cell to another: copy to a slot, record, wait, add. */
static void hand_over(struct worker *worker, struct lane *from, struct lane *to, int slot)
{
    enter(worker, from);
    DO(aclrtMemcpyAsync(worker->slots[slot], 4, from->cell, 4, ACL_MEMCPY_DEVICE_TO_DEVICE,
                        from->stream));
    DO(aclrtRecordEvent(worker->events[slot], from->stream));
    enter(worker, to);
    DO(aclrtStreamWaitEvent(to->stream, worker->events[slot]));
    DO(aclrtReduceAsync(to->cell, worker->slots[slot], 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                        ACL_INT32, to->stream, NULL));
    to->expected += from->expected;
}

static void one_task(struct worker *worker, int slot)
{
    struct lane *lane = &worker->lanes[draw(worker, LANES)];
    struct lane *other = &worker->lanes[draw(worker, LANES)];
    uint32_t value = (uint32_t)draw(worker, 1u << 30);
    enter(worker, lane);
    switch (draw(worker, 8)) {
    case 0:
        DO(aclrtMemsetD32Async(lane->cell, 4, value, 1, lane->stream));
        lane->expected = value;
        break;
    case 1:
        DO(aclrtLaunchHostFunc(lane->stream, count_call, &lane->calls));
        lane->expected_calls++;
        break;
    case 2:
        DO(aclrtReduceAsync(lane->cell, lane->cell, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                            lane->stream, NULL));
        lane->expected *= 2;
        break;
    case 3:
        if (draw(worker, 20) == 0) {
            DO(aclrtSynchronizeStream(lane->stream));
        }
        break;
    default:
        if (other != lane) {
            hand_over(worker, lane, other, slot);
        }
    }
}

static void compare(struct worker *worker)
{
    for (int i = 0; i < LANES; i++) {
        struct lane *lane = &worker->lanes[i];
        uint32_t value = 0;
        DO(aclrtSynchronizeStream(lane->stream));
        enter(worker, lane);
        DO(aclrtMemcpy(&value, 4, lane->cell, 4, ACL_MEMCPY_DEVICE_TO_HOST));
        if (value != lane->expected || lane->calls != lane->expected_calls) {
            worker->bad++;
            fprintf(stderr, "lane %d: %u for %u, %d calls for %d\n", i, value, lane->expected,
                    lane->calls, lane->expected_calls);
        }
    }
}

static void prepare(struct worker *worker)
{
    for (int i = 0; i < LANES; i++) {
        struct lane *lane = &worker->lanes[i];
        lane->device = i % 2;
        enter(worker, lane);
        DO(aclrtCreateStream(&lane->stream));
        DO(aclrtMalloc((void **)&lane->cell, 4, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtMemset(lane->cell, 4, 0, 4));
    }
    for (int i = 0; i < SLOTS; i++) {
        DO(aclrtCreateEventExWithFlag(&worker->events[i], ACL_EVENT_SYNC));
        DO(aclrtMalloc((void **)&worker->slots[i], 4, ACL_MEM_MALLOC_HUGE_FIRST));
    }
}

static void *run(void *data)
{
    struct worker *worker = data;
    uint64_t end = host_ns() + (uint64_t)(worker->seconds * 1e9);
    prepare(worker);
    while (host_ns() < end && !worker->bad) {
        for (int i = 0; i < ROUND; i++) {
            one_task(worker, i);
        }
        compare(worker);
        worker->rounds++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    long tasks = 0;
    OK(aclInit(NULL));
    for (int device = 0; device < 2; device++) {
        OK(aclrtSetDevice(device));
        OK(aclrtGetCurrentContext(&contexts[device]));
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i].seed = 88172645463325252u + (uint64_t)i;
        workers[i].seconds = argc > 1 ? atof(argv[1]) : 1;
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        EXPECT(workers[i].bad, 0);
        TRUE(workers[i].rounds > 0);
        tasks += workers[i].tasks;
    }
    printf("%ld calls\n", tasks);
    return finish();
}
