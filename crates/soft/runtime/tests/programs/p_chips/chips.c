#include "../cases.h"
#include "../full_queue.h"
#include <pthread.h>

/* The time from a later event to an earlier one is the difference of unsigned numbers, and a query looks at its own stream alone.
   SOFTACL: chip=950 */
CASE(a_negative_time_is_unsigned_on_950)
{
    enum { SIZE = 48000 };
    aclrtStream stream, other;
    aclrtEvent first, second, elsewhere;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    void *host, *device;
    uint64_t stamp;
    float ms = 0;
    EXPECT(strncmp(aclrtGetSocName(), "Ascend950", 9), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&first, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&elsewhere, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(elsewhere, other));
    OK(aclrtRecordEvent(first, stream));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(second, stream));
    for (int i = 0; i < 5000 && status != ACL_EVENT_RECORDED_STATUS_COMPLETE; i++) {
        sleep_ms(1);
        OK(aclrtQueryEventStatus(second, &status));
    }
    OK(aclrtEventElapsedTime(&ms, first, second));
    TRUE(ms > 0 && ms < 1000);
    OK(aclrtEventElapsedTime(&ms, second, first));
    TRUE(ms > 1e13f);
    EXPECT(aclrtEventGetTimestamp(elsewhere, &stamp), 107006);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventGetTimestamp(elsewhere, &stamp));
}

static aclrtContext context;
static aclrtEvent event;
static int waiting, asked;

/* What the threads were told; the checks are the main thread's. */
static aclError said[6];
static aclrtEventRecordedStatus status;

static void *synchronise(void *stream)
{
    said[0] = aclrtSetCurrentContext(context);
    __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
    said[1] = aclrtSynchronizeStream(stream);
    return NULL;
}

static void *ask(void *unused)
{
    (void)unused;
    said[2] = aclrtSetCurrentContext(context);
    said[3] = aclrtQueryEventStatus(event, &status);
    __atomic_store_n(&asked, 1, __ATOMIC_SEQ_CST);
    said[4] = aclrtQueryEventStatus(event, &status);
    return NULL;
}

/* A query that has to look takes the lock that a synchronisation of the stream holds as long as it lasts.
   SOFTACL: chip=310b */
CASE(a_query_waits_for_a_synchronisation_on_310b)
{
    aclrtStream stream;
    pthread_t first, second;
    struct gate gate = {0, 0};
    EXPECT(strncmp(aclrtGetSocName(), "Ascend310B", 10), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    while (!__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    pthread_create(&first, NULL, synchronise, stream);
    while (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    sleep_ms(100);
    pthread_create(&second, NULL, ask, NULL);
    sleep_ms(50);
    EXPECT(__atomic_load_n(&asked, __ATOMIC_SEQ_CST), 0);
    open_gate(&gate);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    EXPECT(asked, 1);
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    for (int i = 0; i < 5; i++) {
        OK(said[i]);
    }
}

/* A blocked stream takes 1,024 tasks in all.
   SOFTACL: chip=310p */
CASE(a_stream_of_310p_takes_1024_tasks)
{
    takes(1024, 1032);
}

/* A blocked stream takes a wait and 2,046 more tasks before a submission waits.
   SOFTACL: chip=910_93 */
CASE(a_stream_of_910_93_takes_2047_tasks)
{
    takes(2047, 2055);
}

static int status_of(aclrtEvent event)
{
    aclrtEventRecordedStatus status = -1;
    OK(aclrtQueryEventStatus(event, &status));
    return status;
}

/* Without STARS a query sees completion, and the time is there when a synchronisation copied it.
   SOFTACL: chip=310p,readback_ns=100000 */
CASE(completion_comes_before_the_time_on_310p)
{
    enum { COUNT = 50 };
    aclrtStream stream, other;
    aclrtEvent events[COUNT];
    uint64_t stamp;
    uint32_t count;
    EXPECT(strcmp(aclrtGetSocName(), "Ascend310P3"), 0);
    OK(aclrtGetEventAvailNum(&count));
    EXPECT(count, 1023);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    for (int i = 0; i < COUNT; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
        OK(aclrtRecordEvent(events[i], stream));
    }
    for (int i = 0; i < 5000 && !status_of(events[COUNT - 1]); i++) {
        sleep_ms(1);
    }
    EXPECT(status_of(events[COUNT - 1]), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(aclrtEventGetTimestamp(events[COUNT - 1], &stamp), 107006);
    /* Another stream's synchronisation looks at that stream alone. */
    OK(aclrtSynchronizeStream(other));
    EXPECT(aclrtEventGetTimestamp(events[0], &stamp), 107006);
    uint64_t before = host_ns();
    OK(aclrtSynchronizeStream(stream));
    TRUE(host_ns() - before >= COUNT * 100000u);
    OK(aclrtEventGetTimestamp(events[0], &stamp));
    OK(aclrtEventGetTimestamp(events[COUNT - 1], &stamp));
}

enum { PLACES = 512, MORE = 40 };
static aclrtEvent events[PLACES + MORE];
static int recorded;

static void *record(void *stream)
{
    OK(aclrtSetCurrentContext(context));
    for (int i = 0; i < PLACES + MORE; i++) {
        OK(aclrtRecordEvent(events[i], stream));
        __atomic_add_fetch(&recorded, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* A record with a time needs one of 512 places of its stream, and spins in the caller until one is free.
   SOFTACL: chip=910a */
CASE(records_spin_for_a_place_on_910a)
{
    aclrtStream stream;
    pthread_t thread;
    struct gate gate = {0, 0};
    float ms;
    EXPECT(strcmp(aclrtGetSocName(), "Ascend910A"), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetCurrentContext(&context));
    for (int i = 0; i < PLACES + MORE; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
    }
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    pthread_create(&thread, NULL, record, stream);
    for (int i = 0; i < 5000 && __atomic_load_n(&recorded, __ATOMIC_SEQ_CST) < PLACES; i++) {
        sleep_ms(1);
    }
    sleep_ms(30);
    EXPECT(__atomic_load_n(&recorded, __ATOMIC_SEQ_CST), PLACES);
    open_gate(&gate);
    pthread_join(thread, NULL);
    EXPECT(recorded, PLACES + MORE);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, events[0], events[PLACES + MORE - 1]));
}

static uint64_t time_to_synchronise(aclrtStream stream)
{
    uint64_t before = host_ns();
    OK(aclrtSynchronizeStream(stream));
    return host_ns() - before;
}

/* An event with a time asks for a completion entry, and a synchronisation has to wait for that.
   SOFTACL: completion_ns=20000000 */
CASE(synchronisations_are_slower_after_a_timed_event)
{
    aclrtStream stream;
    aclrtEvent event, plain;
    int calls = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&plain, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    OK(aclrtRecordEvent(event, stream));
    TRUE(time_to_synchronise(stream) >= 20000000u);
    /* Nothing that asks for an entry: the best of many is quick, whatever the host does. */
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 50 && best >= 20000000u; i++) {
        OK(aclrtRecordEvent(plain, stream));
        uint64_t took = time_to_synchronise(stream);
        best = took < best ? took : best;
    }
    TRUE(best < 20000000u);
}

static void until_idle(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    for (int i = 0; i < 5000 && status != ACL_STREAM_STATUS_COMPLETE; i++) {
        OK(aclrtStreamQuery(stream, &status));
        sleep_ms(1);
    }
}

/* Every so many tasks of a stream the runtime looks by itself, if asked to.
   SOFTACL: recycle_every=64 */
CASE(the_runtime_looks_by_itself_now_and_then)
{
    aclrtStream stream;
    aclrtEvent event, later;
    void *memory;
    uint64_t stamp;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&later, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(event, stream));
    until_idle(stream);
    for (int i = 1; i < 63; i++) {
        OK(aclrtMemsetAsync(memory, 64, i, 64, stream));
    }
    until_idle(stream);
    EXPECT(aclrtEventGetTimestamp(event, &stamp), 107006);
    /* The 64th task. */
    OK(aclrtRecordEvent(later, stream));
    aclError said = 107006;
    for (int i = 0; i < 5000 && said == 107006; i++) {
        said = aclrtEventGetTimestamp(event, &stamp);
        sleep_ms(1);
    }
    EXPECT(said, 0);
}
