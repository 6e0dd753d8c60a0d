/* What calls and tasks take in virtual time; the options are those of tests/it/virtual_time.rs. Each line is a name, and
 * nanoseconds of the calling thread's clock. */
#include "../check.h"

#include <pthread.h>

uint64_t softaclNow(void);
void softaclWork(uint64_t nanoseconds);
void softaclReach(uint64_t nanoseconds);

enum { BYTES = 4096, TIMED_OUT = 507046 };

static aclrtStream stream;
static char *from, *to;
static uint64_t since;

static void begin(void)
{
    OK(aclrtSynchronizeStream(stream));
    since = softaclNow();
}

static void tell(const char *name)
{
    printf("%s %llu\n", name, (unsigned long long)(softaclNow() - since));
}

static void copy(size_t bytes)
{
    OK(aclrtMemcpyAsync(to, BYTES, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static void waits(void)
{
    begin();
    copy(10);
    tell("submitted");
    OK(aclrtSynchronizeStream(stream));
    tell("synchronised");
    begin();
    copy(2000);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 1), TIMED_OUT);
    tell("timed out");
    OK(aclrtSynchronizeStreamWithTimeout(stream, 60000));
    tell("done");
}

static void queries(void)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;

    begin();
    copy(10);
    while (status != ACL_STREAM_STATUS_COMPLETE) {
        OK(aclrtStreamQuery(stream, &status));
    }
    tell("seen by queries");
}

static void events(void)
{
    aclrtEvent first, last;
    float ms;

    OK(aclrtCreateEventWithFlag(&first, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventWithFlag(&last, ACL_EVENT_TIME_LINE));
    begin();
    OK(aclrtRecordEvent(first, stream));
    copy(10);
    OK(aclrtRecordEvent(last, stream));
    OK(aclrtSynchronizeEvent(last));
    tell("event");
    OK(aclrtEventElapsedTime(&ms, first, last));
    printf("elapsed %.0f\n", 1e6 * ms);
}

/* The queue takes four tasks. */
static void full_queue(void)
{
    begin();
    for (int i = 0; i < 4; i++) {
        copy(10);
    }
    tell("four");
    copy(10);
    tell("five");
    copy(10);
    tell("six");
}

static void work(void *nanoseconds)
{
    softaclWork((uintptr_t)nanoseconds);
}

static void host_functions(void)
{
    aclrtStream other;

    OK(aclrtCreateStream(&other));
    begin();
    OK(aclrtLaunchHostFunc(stream, work, (void *)(uintptr_t)5000));
    OK(aclrtLaunchHostFunc(other, work, (void *)(uintptr_t)5000));
    OK(aclrtSynchronizeStream(stream));
    tell("host function");
    OK(aclrtSynchronizeStream(other));
    tell("another");
}

static void *run(void *clock)
{
    softaclReach(*(uint64_t *)clock);
    softaclWork(7000);
    *(uint64_t *)clock = softaclNow();
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    uint64_t clock;

    begin();
    clock = softaclNow();
    EXPECT(pthread_create(&thread, NULL, run, &clock), 0);
    softaclWork(2000);
    EXPECT(pthread_join(thread, NULL), 0);
    tell("before the join");
    softaclReach(clock);
    tell("after it");
}

int main(void)
{
    char host[16] = {0};

    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    waits();
    queries();
    events();
    full_queue();
    host_functions();
    threads();
    begin();
    OK(aclrtMemcpy(to, BYTES, host, 10, ACL_MEMCPY_HOST_TO_DEVICE));
    tell("copied by the host");
    return finish();
}
