/* What `check` looks for beside races, and the programs nearest to it: one case by its name. Every case ends by itself.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels.h"

enum { BYTES = 64 * 1024, LARGE = 8 << 20, ROUNDS = 200, COPIES = 2000, BUFFERS = 2, TURNS = 24, QUARTER = LARGE / 4 };

static aclrtStream streams[2];
static aclrtEvent events[2 * BUFFERS];
static char *device_memory, *host_memory;
static aclOpExecutor *kernel;

static void settle(void)
{
    DO(aclrtSynchronizeStream(streams[0]));
    DO(aclrtSynchronizeStream(streams[1]));
}

static void copy_out(size_t bytes)
{
    DO(aclrtMemcpyAsync(host_memory, bytes, device_memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST, streams[0]));
}

/* Ends the program without the usual end of `main`. */
static void leave(const char *name)
{
    puts(name);
    fflush(stdout);
    exit(0);
}

/* ---- Copies to the host ---- */

static void finalized_early(void)
{
    copy_out(LARGE);
    DO(aclFinalize());
    leave("finalized_early");
}

static void left_early(void)
{
    copy_out(LARGE);
    leave("left_early");
}

static void finalized_after_sync(void)
{
    copy_out(LARGE);
    settle();
    DO(aclFinalize());
    leave("finalized_after_sync");
}

static void left_after_event(void)
{
    copy_out(LARGE);
    DO(aclrtRecordEvent(events[0], streams[0]));
    DO(aclrtSynchronizeEvent(events[0]));
    leave("left_after_event");
}

static void left_with_a_fill(void)
{
    DO(aclrtMemsetAsync(device_memory, LARGE, 1, LARGE, streams[0]));
    leave("left_with_a_fill");
}

static void reset_early(void)
{
    copy_out(LARGE);
    DO(aclrtResetDevice(0));
    leave("reset_early");
}

static void reset_and_finalized_early(void)
{
    copy_out(LARGE);
    DO(aclrtResetDeviceForce(0));
    DO(aclFinalize());
    leave("reset_and_finalized_early");
}

static void reset_after_sync(void)
{
    copy_out(LARGE);
    settle();
    DO(aclrtResetDevice(0));
    leave("reset_after_sync");
}

/* The other thread has set the device as well, so the reset of the main thread ends nothing. */
static pthread_barrier_t both;

static void *copies(void *unused)
{
    aclrtStream stream;

    (void)unused;
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMemcpyAsync(host_memory, LARGE, device_memory, LARGE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    return NULL;
}

static void reset_by_another_thread(void)
{
    pthread_t thread;

    pthread_barrier_init(&both, NULL, 2);
    require(!pthread_create(&thread, NULL, copies, NULL), "a thread");
    pthread_barrier_wait(&both);
    DO(aclrtResetDevice(0));
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
    leave("reset_by_another_thread");
}

static void left_with_a_copy_of_any_kind(void)
{
    DO(aclrtMemcpyAsync(host_memory, LARGE, device_memory, LARGE, ACL_MEMCPY_DEFAULT, streams[0]));
    leave("left_with_a_copy_of_any_kind");
}

static void left_with_a_copy_on_the_device(void)
{
    DO(aclrtMemcpyAsync(device_memory + LARGE / 2, BYTES, device_memory, BYTES, ACL_MEMCPY_DEFAULT, streams[0]));
    leave("left_with_a_copy_on_the_device");
}

/* ---- Events and codes ---- */

/* Both streams use the events: `waiter` waits `times` times for what the first one has done. */
static void waits_of(aclrtStream waiter, int times)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *memory = device_memory + (size_t)i * BYTES / 2;
        DO(aclrtMemsetAsync(memory, 64, i, 64, streams[0]));
        DO(aclrtRecordEvent(events[0], streams[0]));
        for (int time = 0; time < times; time++) {
            DO(aclrtStreamWaitEvent(waiter, events[0]));
        }
        DO(aclrtMemsetAsync(memory + 64, 64, i, 64, waiter));
    }
    settle();
}

static void waits_of_one_stream(void)
{
    waits_of(streams[0], 1);
}

static void waits_twice(void)
{
    waits_of(streams[1], 2);
}

static void waits_once(void)
{
    waits_of(streams[1], 1);
}

/* The first round waits for events that later rounds record. */
static void two_buffers(void)
{
    for (int round = 0; round < 3 * BUFFERS; round++) {
        int buffer = round % BUFFERS;
        char *memory = device_memory + buffer * BYTES;
        aclrtEvent full = events[buffer], empty = events[BUFFERS + buffer];
        DO(aclrtStreamWaitEvent(streams[0], empty));
        DO(aclrtMemsetAsync(memory, BYTES, round, BYTES, streams[0]));
        DO(aclrtRecordEvent(full, streams[0]));
        DO(aclrtStreamWaitEvent(streams[1], full));
        DO(aclrtMemcpyAsync(memory + LARGE / 2, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[1]));
        DO(aclrtRecordEvent(empty, streams[1]));
    }
    settle();
}

static void never_recorded(void)
{
    DO(aclrtStreamWaitEvent(streams[1], events[0]));
    DO(aclrtMemsetAsync(device_memory, BYTES, 1, BYTES, streams[1]));
    settle();
}

static void asked_and_timed_out(void)
{
    for (int i = 0; i < 50; i++) {
        copy_out(LARGE);
    }
    aclrtStreamStatus status;
    DO(aclrtSubscribeReport(pthread_self(), streams[1]));
    DO(aclrtStreamQuery(streams[0], &status));
    require(aclrtSynchronizeStreamWithTimeout(streams[0], 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "it is too early");
    require(aclrtProcessReport(1) == ACL_ERROR_RT_REPORT_TIMEOUT, "there is no report");
    settle();
    DO(aclrtUnSubscribeReport(pthread_self(), streams[1]));
}

static void *without_context(void *unused)
{
    void *memory;
    (void)unused;
    require(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS, "it needs a context");
    return NULL;
}

static void no_context(void)
{
    pthread_t thread;
    require(!pthread_create(&thread, NULL, without_context, NULL), "a thread");
    pthread_join(thread, NULL);
}

/* ---- Memory that was given back ---- */

static void freed_twice(void)
{
    for (int i = 0; i < 3; i++) {
        void *memory;
        DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtFree(memory));
        aclrtFree(memory);
    }
}

static void used_after_free(void)
{
    char *memory;
    DO(aclrtMallocHost((void **)&memory, BYTES));
    DO(aclrtFreeHost(memory));
    aclrtMemcpyAsync(device_memory, 16, memory + 16, 16, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]);
    settle();
}

/* The same address again, and a call that fails for another reason. */
static void used_after_new_allocation(void)
{
    for (int i = 0; i < 3; i++) {
        void *memory;
        DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        aclrtMemcpyAsync(memory, 1, host_memory, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]);
        DO(aclrtFree(memory));
    }
}

/* ---- Costs ---- */

static void copies_of_16_bytes(void)
{
    for (int i = 0; i < COPIES; i++) {
        DO(aclrtMemcpyAsync(device_memory + i * 16, 16, host_memory + i * 16, 16, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    }
    settle();
}

static void some_copies_of_16_bytes(void)
{
    for (int i = 0; i < COPIES / 4; i++) {
        DO(aclrtMemcpyAsync(device_memory + i * 16, 16, host_memory + i * 16, 16, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    }
    settle();
}

/* One result in each step, and two of them. */
static void results_of_4_bytes(int results)
{
    for (int i = 0; i < COPIES; i += results) {
        DO(aclrtMemsetAsync(device_memory, 16, i, 16, streams[0]));
        for (int k = 0; k < results; k++) {
            DO(aclrtMemcpyAsync(host_memory + 4 * k, 4, device_memory + 4 * k, 4, ACL_MEMCPY_DEVICE_TO_HOST, streams[0]));
        }
        settle();
    }
}

static void one_result_each_step(void)
{
    results_of_4_bytes(1);
}

static void two_results_each_step(void)
{
    results_of_4_bytes(2);
}

static void gathered_by_copies(void)
{
    DO(aclrtMemset(device_memory, 48 * COPIES, 0, 48 * COPIES));
    for (int i = 0; i < COPIES; i++) {
        DO(aclrtMemcpyAsync(device_memory + 16 * i, 16, device_memory + 32 * i + 16 * COPIES, 16, ACL_MEMCPY_DEVICE_TO_DEVICE,
                            streams[0]));
    }
    settle();
}

/* Some rounds: the allocations take much of the time, or little. */
static void some_memory(int waits)
{
    for (int i = 0; i < ROUNDS / 4; i++) {
        void *memory;
        DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtFree(memory));
        if (waits) {
            usleep(20000);
        }
    }
}

static void some_memory_each_round(void)
{
    some_memory(0);
}

static void some_memory_now_and_then(void)
{
    some_memory(1);
}

/* A graph of one fill for each use of it, or for some uses. */
static void graphs_for(int uses)
{
    aclmdlRI graphs[16];
    for (int i = 0; i < ROUNDS; i++) {
        int at = i % 16;
        DO(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        DO(aclrtMemsetAsync(device_memory, BYTES, i, BYTES, streams[0]));
        DO(aclmdlRICaptureEnd(streams[0], &graphs[at]));
        for (int k = 0; k < uses; k++) {
            DO(aclmdlRIExecuteAsync(graphs[at], streams[0]));
        }
        if (at == 15 || i == ROUNDS - 1) {
            settle();
            for (int k = 0; k <= at; k++) {
                DO(aclmdlRIDestroy(graphs[k]));
            }
        }
    }
}

static void a_graph_for_each_use(void)
{
    graphs_for(1);
}

static void a_graph_for_some_uses(void)
{
    graphs_for(3);
}

static void memory_each_round(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *memory;
        DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtMemsetAsync(memory, BYTES, i, BYTES, streams[0]));
        DO(aclrtSynchronizeStream(streams[0]));
        DO(aclrtFree(memory));
    }
}

static void memory_once(void)
{
    static void *memory[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        DO(aclrtMalloc(&memory[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int i = 0; i < ROUNDS; i++) {
        DO(aclrtFree(memory[i]));
    }
}

static void sync_each(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch(kernel, streams[0]);
        DO(aclrtSynchronizeStream(streams[0]));
    }
}

/* The host reads the result of each kernel. */
static void sync_for_each_result(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch(kernel, streams[0]);
        DO(aclrtMemcpyAsync(host_memory, 64, device_memory, 64, ACL_MEMCPY_DEVICE_TO_HOST, streams[0]));
        DO(aclrtSynchronizeStream(streams[0]));
    }
}

static void sync_each_few(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch(kernel, streams[0]);
        launch(kernel, streams[0]);
        DO(aclrtSynchronizeStream(streams[0]));
    }
}

/* Each copy takes 21 ms. */
static void copies_in_turn(size_t apart, int waits)
{
    for (int i = 0; i < 2 * TURNS; i++) {
        size_t at = i % 2 * apart;
        DO(aclrtMemcpyAsync(host_memory + at, LARGE / 4, device_memory + at, LARGE / 4, ACL_MEMCPY_DEVICE_TO_HOST,
                            streams[i % 2]));
        if (waits) {
            DO(aclrtSynchronizeStream(streams[i % 2]));
        }
    }
}

static void streams_in_turn(void)
{
    copies_in_turn(LARGE / 2, 1);
}

/* The host may compute what the second stream gets from what the first one brings. */
static void streams_in_turn_by_way_of_the_host(void)
{
    for (int i = 0; i < TURNS; i++) {
        DO(aclrtMemcpyAsync(host_memory, LARGE / 4, device_memory, LARGE / 4, ACL_MEMCPY_DEVICE_TO_HOST, streams[0]));
        DO(aclrtSynchronizeStream(streams[0]));
        DO(aclrtMemcpyAsync(device_memory + LARGE / 2, LARGE / 4, host_memory + LARGE / 2, LARGE / 4, ACL_MEMCPY_HOST_TO_DEVICE,
                            streams[1]));
        DO(aclrtSynchronizeStream(streams[1]));
    }
}

static void streams_in_turn_for_one_memory(void)
{
    copies_in_turn(0, 1);
}

static void streams_at_once(void)
{
    copies_in_turn(LARGE / 2, 0);
}

/* A copy to the device, and one of other memory or of the same memory to the host, on one stream. */
static void both_directions(size_t apart)
{
    for (int i = 0; i < TURNS; i++) {
        DO(aclrtMemcpyAsync(device_memory, BYTES, host_memory, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
        DO(aclrtMemcpyAsync(host_memory + LARGE / 2, BYTES, device_memory + apart, BYTES, ACL_MEMCPY_DEVICE_TO_HOST,
                            streams[0]));
    }
    settle();
}

static void directions_in_turn(void)
{
    both_directions(LARGE / 2);
}

static void directions_for_one_memory(void)
{
    both_directions(0);
}

/* Each copy takes 655 µs, and the thread asks all that time. */
static void streams_in_turn_by_busy_query(void)
{
    for (int i = 0; i < 2 * TURNS; i++) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        size_t at = i % 2 * (LARGE / 2);
        DO(aclrtMemcpyAsync(host_memory + at, BYTES, device_memory + at, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, streams[i % 2]));
        while (status != ACL_STREAM_STATUS_COMPLETE) {
            DO(aclrtStreamQuery(streams[i % 2], &status));
        }
    }
}

static void streams_in_turn_by_query(void)
{
    for (int i = 0; i < 2 * TURNS; i++) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        size_t at = i % 2 * (LARGE / 2);
        DO(aclrtMemcpyAsync(host_memory + at, QUARTER, device_memory + at, QUARTER, ACL_MEMCPY_DEVICE_TO_HOST,
                            streams[i % 2]));
        while (status != ACL_STREAM_STATUS_COMPLETE) {
            usleep(200);
            DO(aclrtStreamQuery(streams[i % 2], &status));
        }
    }
}

static void sync_at_the_end(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch(kernel, streams[0]);
    }
    DO(aclrtSynchronizeStream(streams[0]));
}

#define CASE(name) { #name, name }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(finalized_early), CASE(left_early), CASE(finalized_after_sync), CASE(left_after_event), CASE(left_with_a_fill),
    CASE(reset_early), CASE(reset_and_finalized_early), CASE(reset_after_sync), CASE(reset_by_another_thread),
    CASE(left_with_a_copy_of_any_kind), CASE(left_with_a_copy_on_the_device), CASE(waits_of_one_stream), CASE(waits_twice),
    CASE(waits_once), CASE(streams_in_turn_by_query),
    CASE(two_buffers), CASE(never_recorded), CASE(asked_and_timed_out), CASE(no_context), CASE(copies_of_16_bytes),
    CASE(some_copies_of_16_bytes), CASE(memory_each_round), CASE(memory_once), CASE(sync_each), CASE(sync_each_few), CASE(sync_at_the_end),
    CASE(streams_in_turn), CASE(streams_in_turn_for_one_memory), CASE(streams_at_once),
    CASE(directions_in_turn), CASE(directions_for_one_memory), CASE(streams_in_turn_by_busy_query),
    CASE(freed_twice), CASE(used_after_free), CASE(used_after_new_allocation), CASE(one_result_each_step),
    CASE(two_results_each_step), CASE(gathered_by_copies), CASE(some_memory_each_round), CASE(some_memory_now_and_then),
    CASE(a_graph_for_each_use), CASE(a_graph_for_some_uses), CASE(sync_for_each_result),
    CASE(streams_in_turn_by_way_of_the_host),
};

int main(int count, char **words)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    for (int i = 0; i < 2 * BUFFERS; i++) {
        DO(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
    }
    DO(aclrtMalloc((void **)&device_memory, LARGE, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost((void **)&host_memory, LARGE));
    kernel = kernel_of(device_memory, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count > 1 && strcmp(words[1], cases[i].name) == 0) {
            cases[i].run();
            puts(words[1]);
        }
    }
    settle();
    DO(aclDestroyAclOpExecutor(kernel));
    DO(aclrtFree(device_memory));
    DO(aclrtFreeHost(host_memory));
    for (int i = 0; i < 2 * BUFFERS; i++) {
        DO(aclrtDestroyEvent(events[i]));
    }
    for (int i = 0; i < 2; i++) {
        DO(aclrtDestroyStream(streams[i]));
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
