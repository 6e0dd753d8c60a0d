/* Copies and fills on several streams, with and without what puts them in order: one case by its name. Every case
 * ends by itself. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <acl/acl_rt_memory_soma.h>

#include "program.h"

enum { BYTES = 64 * 1024, STREAMS = 3, EVENTS = 3, PITCH = 1024, ROWS = BYTES / PITCH };

static aclrtStream streams[STREAMS];
static aclrtEvent events[EVENTS];
static char *device_memory[4];
static char *host_memory[2];

/* ---- Shorthands ---- */

static void copy_in(char *to, aclrtStream stream)
{
    DO(aclrtMemcpyAsync(to, BYTES, host_memory[0], BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

static void copy_out(const char *from, aclrtStream stream)
{
    DO(aclrtMemcpyAsync(host_memory[1], BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

static void copy_across(char *to, const char *from, aclrtStream stream)
{
    DO(aclrtMemcpyAsync(to, BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static void fill(char *to, size_t bytes, aclrtStream stream)
{
    DO(aclrtMemsetAsync(to, bytes, 1, bytes, stream));
}

static void record(int event, int stream)
{
    DO(aclrtRecordEvent(events[event], streams[stream]));
}

static void wait_for(int event, int stream)
{
    DO(aclrtStreamWaitEvent(streams[stream], events[event]));
}

static void sync_all(void)
{
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtSynchronizeStream(streams[i]));
    }
}

/* Memory of a pool, for the order of a stream. */
static char *from_pool(aclrtMemPool *pool, aclrtStream stream)
{
    aclrtMemPoolProps properties;
    void *memory;
    memset(&properties, 0, sizeof properties);
    DO(aclrtMemPoolCreate(pool, &properties));
    DO(aclrtMemPoolMallocAsync(&memory, BYTES, *pool, stream));
    return memory;
}

/* A part of each row of a matrix. */
static void copy_columns(size_t first, size_t width, aclrtStream stream)
{
    DO(aclrtMemcpy2dAsync(device_memory[1] + first, PITCH, device_memory[0] + first, PITCH, width, ROWS,
                          ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

/* ---- Mistakes ---- */

static void no_wait(void)
{
    copy_in(device_memory[0], streams[0]);
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void wait_too_late(void)
{
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    copy_across(device_memory[1], device_memory[0], streams[1]);
    wait_for(0, 1);
}

static void record_too_early(void)
{
    record(0, 0);
    copy_in(device_memory[0], streams[0]);
    wait_for(0, 1);
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void wrong_stream_waits(void)
{
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    wait_for(0, 2);
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void wrong_event(void)
{
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    record(1, 2);
    wait_for(1, 1);
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void wrong_sync(void)
{
    copy_in(device_memory[0], streams[0]);
    DO(aclrtSynchronizeStream(streams[1]));
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void write_after_read(void)
{
    copy_across(device_memory[1], device_memory[0], streams[0]);
    fill(device_memory[0], BYTES, streams[1]);
}

static void write_after_write(void)
{
    fill(device_memory[0], BYTES, streams[0]);
    fill(device_memory[0] + BYTES - 1, 1, streams[1]);
}

static void pinned_reused(void)
{
    copy_out(device_memory[0], streams[0]);
    copy_out(device_memory[1], streams[1]);
}

static void blocking_copy(void)
{
    copy_in(device_memory[0], streams[0]);
    DO(aclrtMemcpy(host_memory[1], BYTES, device_memory[0], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void *other_stream(void *unused)
{
    (void)unused;
    DO(aclrtSetDevice(0));
    copy_across(device_memory[1], device_memory[0], streams[1]);
    return NULL;
}

static void other_thread(void)
{
    pthread_t thread;
    copy_in(device_memory[0], streams[0]);
    require(!pthread_create(&thread, NULL, other_stream, NULL), "a thread");
    pthread_join(thread, NULL);
}

static void second_round(void)
{
    for (int round = 0; round < 3; round++) {
        copy_in(device_memory[0], streams[0]);
        record(0, 0);
        wait_for(0, 1);
        copy_across(device_memory[1], device_memory[0], streams[1]);
    }
}

static void free_early(void)
{
    void *memory;
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    fill(memory, BYTES, streams[0]);
    DO(aclrtFree(memory));
}

static void free_host_early(void)
{
    void *memory;
    DO(aclrtMallocHost(&memory, BYTES));
    DO(aclrtMemcpyAsync(device_memory[0], BYTES, memory, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    DO(aclrtFreeHost(memory));
}

static void free_after_other_sync(void)
{
    void *memory;
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    fill(memory, BYTES, streams[0]);
    DO(aclrtSynchronizeStream(streams[1]));
    DO(aclrtFree(memory));
}

/* The fill is ordered before the read, and the read not before the end of the memory. */
static void pool_free_early(void)
{
    aclrtMemPool pool;
    char *memory = from_pool(&pool, streams[0]);
    fill(memory, BYTES, streams[0]);
    record(0, 0);
    wait_for(0, 1);
    copy_across(device_memory[1], memory, streams[1]);
    DO(aclrtMemPoolFreeAsync(memory, streams[0]));
    sync_all();
    DO(aclrtMemPoolDestroy(pool));
}

static void columns_overlap(void)
{
    copy_columns(0, PITCH / 2 + 1, streams[0]);
    copy_columns(PITCH / 2, PITCH / 2, streams[1]);
}

static void row_read_early(void)
{
    copy_columns(0, PITCH / 2, streams[0]);
    DO(aclrtMemcpyAsync(host_memory[1], BYTES, device_memory[1], PITCH / 2, ACL_MEMCPY_DEVICE_TO_HOST, streams[1]));
}

static void read_beyond_a_copy(void)
{
    char *memory;
    DO(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemcpyAsync(memory, BYTES, host_memory[0], BYTES / 2, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    copy_out(memory, streams[0]);
    sync_all();
    DO(aclrtFree(memory));
}

static void forced(void)
{
    aclrtStream stream;
    DO(aclrtCreateStream(&stream));
    for (int i = 0; i < 50; i++) {
        fill(device_memory[0], BYTES, stream);
    }
    DO(aclrtDestroyStreamForce(stream));
}

/* ---- The same without a mistake ---- */

static void ordered_by_event(void)
{
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    wait_for(0, 1);
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_third_stream(void)
{
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    wait_for(0, 2);
    record(1, 2);
    wait_for(1, 1);
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_sync(void)
{
    copy_in(device_memory[0], streams[0]);
    DO(aclrtSynchronizeStream(streams[0]));
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_event_sync(void)
{
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    DO(aclrtSynchronizeEvent(events[0]));
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_device_sync(void)
{
    copy_in(device_memory[0], streams[0]);
    DO(aclrtSynchronizeDevice());
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_query(void)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    copy_in(device_memory[0], streams[0]);
    record(0, 0);
    while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
        DO(aclrtQueryEventStatus(events[0], &status));
    }
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_one_stream(void)
{
    copy_in(device_memory[0], streams[0]);
    copy_across(device_memory[1], device_memory[0], streams[0]);
    copy_out(device_memory[1], streams[0]);
}

static void ordered_by_pageable_copy(void)
{
    static char pageable[BYTES];
    copy_in(device_memory[0], streams[0]);
    DO(aclrtMemcpyAsync(device_memory[2], BYTES, pageable, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_by_notify(void)
{
    aclrtNotify notify;
    DO(aclrtCreateNotify(&notify, 0));
    copy_in(device_memory[0], streams[0]);
    DO(aclrtRecordNotify(notify, streams[0]));
    DO(aclrtWaitAndResetNotify(notify, streams[1], 0));
    copy_across(device_memory[1], device_memory[0], streams[1]);
    sync_all();
    DO(aclrtDestroyNotify(notify));
}

static volatile int has_run;

static void note_run(void *unused)
{
    (void)unused;
    __atomic_store_n(&has_run, 1, __ATOMIC_RELEASE);
}

static void ordered_by_callback(void)
{
    copy_in(device_memory[0], streams[0]);
    DO(aclrtLaunchHostFunc(streams[0], note_run, NULL));
    while (!__atomic_load_n(&has_run, __ATOMIC_ACQUIRE)) {
        usleep(100);
    }
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

static void ordered_rounds(void)
{
    for (int round = 0; round < 5; round++) {
        copy_in(device_memory[0], streams[0]);
        record(0, 0);
        wait_for(0, 1);
        copy_across(device_memory[1], device_memory[0], streams[1]);
        record(1, 1);
        wait_for(1, 0);
    }
}

static void apart(void)
{
    fill(device_memory[0], BYTES / 2, streams[0]);
    fill(device_memory[0] + BYTES / 2, BYTES / 2, streams[1]);
}

static void two_reads(void)
{
    copy_across(device_memory[1], device_memory[0], streams[0]);
    copy_across(device_memory[2], device_memory[0], streams[1]);
}

static void free_after_sync(void)
{
    void *memory;
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    fill(memory, BYTES, streams[0]);
    DO(aclrtSynchronizeStream(streams[0]));
    DO(aclrtFree(memory));
}

static void free_with_sync(void)
{
    void *memory;
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    fill(memory, BYTES, streams[0]);
    DO(aclrtFreeWithDevSync(memory));
}

static void pool_free_in_order(void)
{
    aclrtMemPool pool;
    char *memory = from_pool(&pool, streams[0]);
    fill(memory, BYTES, streams[0]);
    record(0, 0);
    wait_for(0, 1);
    copy_across(device_memory[1], memory, streams[1]);
    record(1, 1);
    wait_for(1, 0);
    DO(aclrtMemPoolFreeAsync(memory, streams[0]));
    sync_all();
    DO(aclrtMemPoolDestroy(pool));
}

static void columns_apart(void)
{
    copy_columns(0, PITCH / 2, streams[0]);
    copy_columns(PITCH / 2, PITCH / 2, streams[1]);
}

static void row_read_between(void)
{
    copy_columns(PITCH / 2, PITCH / 2, streams[0]);
    DO(aclrtMemcpyAsync(host_memory[1], BYTES, device_memory[1], PITCH / 2, ACL_MEMCPY_DEVICE_TO_HOST, streams[1]));
}

static void read_of_two_copies(void)
{
    char *memory;
    DO(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int half = 0; half < 2; half++) {
        DO(aclrtMemcpyAsync(memory + half * (BYTES / 2), BYTES / 2, host_memory[0], BYTES / 2,
                            ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    }
    copy_out(memory, streams[0]);
    sync_all();
    DO(aclrtFree(memory));
}

static void freed_and_made_again(void)
{
    for (int round = 0; round < 8; round++) {
        void *memory;
        DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        fill(memory, BYTES, streams[round % STREAMS]);
        DO(aclrtSynchronizeStream(streams[round % STREAMS]));
        DO(aclrtFree(memory));
    }
}

static void drained(void)
{
    aclrtStream stream;
    DO(aclrtCreateStream(&stream));
    fill(device_memory[0], BYTES, stream);
    DO(aclrtDestroyStream(stream));
    copy_across(device_memory[1], device_memory[0], streams[1]);
}

#define CASE(name) { #name, name }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(no_wait), CASE(wait_too_late), CASE(record_too_early), CASE(wrong_stream_waits), CASE(wrong_event),
    CASE(wrong_sync), CASE(write_after_read), CASE(write_after_write), CASE(pinned_reused), CASE(blocking_copy),
    CASE(other_thread), CASE(second_round), CASE(free_early), CASE(free_host_early), CASE(free_after_other_sync),
    CASE(forced), CASE(ordered_by_event), CASE(ordered_by_third_stream), CASE(ordered_by_sync),
    CASE(ordered_by_event_sync), CASE(ordered_by_device_sync), CASE(ordered_by_query), CASE(ordered_by_one_stream),
    CASE(ordered_by_pageable_copy), CASE(ordered_by_notify), CASE(ordered_by_callback), CASE(ordered_rounds),
    CASE(apart), CASE(two_reads), CASE(free_after_sync), CASE(free_with_sync), CASE(freed_and_made_again),
    CASE(drained), CASE(pool_free_early), CASE(columns_overlap), CASE(row_read_early), CASE(pool_free_in_order),
    CASE(columns_apart), CASE(row_read_between), CASE(read_beyond_a_copy), CASE(read_of_two_copies),
};

int main(int count, char **words)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    for (int i = 0; i < EVENTS; i++) {
        DO(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
    }
    for (int i = 0; i < 4; i++) {
        DO(aclrtMalloc((void **)&device_memory[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int i = 0; i < 2; i++) {
        DO(aclrtMallocHost((void **)&host_memory[i], BYTES));
    }
    require(count == 2, "the name of a case");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strcmp(cases[i].name, words[1])) {
            cases[i].run();
            sync_all();
            puts(words[1]);
        }
    }
    for (int i = 0; i < 2; i++) {
        DO(aclrtFreeHost(host_memory[i]));
    }
    for (int i = 0; i < 4; i++) {
        DO(aclrtFree(device_memory[i]));
    }
    for (int i = 0; i < EVENTS; i++) {
        DO(aclrtDestroyEvent(events[i]));
    }
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtDestroyStream(streams[i]));
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
