/* A host that never rests: after each burst of tasks on one stream it only waits for their end, and submits the next.
 * Words: how it waits, and how many bursts.
 *   event    for an event without a time         timed    for one with a time
 *   other    for another stream, which waits     notify, value    the same, by a notify or a value
 *   stream   for the stream                      device   for the device
 *   limited  for the stream, a millisecond at a time, in a thread of its own
 *   query    asks about the event                asked    another thread asks
 *   host     until a host function has run       report   until a callback has
 *   streams  for an event behind all of many streams
 *   beside   for an event, while another thread waits for the whole device all the time */
#include <sched.h>
#include <stdatomic.h>

#include "acl/acl_rt_memory_soma.h"
#include "program.h"

enum { BURST = 20, BYTES = 4096, STREAMS = 12, TIMED_OUT = 507046 };

static aclrtStream stream, second, many[STREAMS];
static aclrtEvent event, each[STREAMS];
static aclrtNotify notify;
static aclrtContext context;
static uint64_t *word;
static atomic_int ran, wanted, seen, is_over, is_told;

static int is(const char *how, const char *name)
{
    return strcmp(how, name) == 0;
}

static void count(void *unused)
{
    (void)unused;
    ran++;
}

static void hold(void *unused)
{
    (void)unused;
    while (!is_over) {
        usleep(500);
    }
}

static void until(atomic_int *counter, int least)
{
    while (*counter < least) {
        sched_yield();
    }
}

static void ask_until_done(void)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
        DO(aclrtQueryEventStatus(event, &status));
        usleep(20);
    }
}

/* What another thread does until the program is over. */
static void *work(void *how)
{
    DO(aclrtSetCurrentContext(context));
    is_told = 1;
    while (!is_over) {
        if (is(how, "asked") && wanted > seen) {
            ask_until_done();
            seen++;
        } else if (is(how, "limited")) {
            aclError code = aclrtSynchronizeStreamWithTimeout(stream, 1);
            require(code == 0 || code == TIMED_OUT, "a wait with a limit");
            usleep(code == 0 ? 50 : 0);
        } else if (is(how, "report")) {
            (void)aclrtProcessReport(10);
        } else if (is(how, "beside")) {
            DO(aclrtSynchronizeDevice());
        }
    }
    return NULL;
}

static void wait_for(const char *how, int burst)
{
    if (is(how, "host")) {
        DO(aclrtLaunchHostFunc(stream, count, NULL));
        until(&ran, burst);
    } else if (is(how, "report")) {
        DO(aclrtLaunchCallback(count, NULL, ACL_CALLBACK_BLOCK, stream));
        until(&ran, burst);
    } else if (is(how, "notify")) {
        DO(aclrtRecordNotify(notify, stream));
        DO(aclrtWaitAndResetNotify(notify, second, 0));
        DO(aclrtSynchronizeStream(second));
    } else if (is(how, "value")) {
        DO(aclrtValueWrite(word, burst, 0, stream));
        DO(aclrtValueWait(word, burst, 0, second));
        DO(aclrtSynchronizeStream(second));
    } else if (is(how, "stream")) {
        DO(aclrtSynchronizeStream(stream));
    } else if (is(how, "device")) {
        DO(aclrtSynchronizeDevice());
    } else {
        DO(aclrtRecordEvent(event, stream));
        if (is(how, "other")) {
            DO(aclrtStreamWaitEvent(second, event));
            DO(aclrtSynchronizeStream(second));
        } else if (is(how, "query")) {
            ask_until_done();
        } else if (is(how, "asked")) {
            wanted++;
            until(&seen, wanted);
        } else {
            DO(aclrtSynchronizeEvent(event));
        }
    }
}

int main(int words, char **word_of)
{
    const char *how = word_of[1];
    int bursts = atoi(word_of[2]);
    uint32_t kind = is(how, "timed") ? ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC : ACL_EVENT_SYNC;
    int has_second = is(how, "asked") || is(how, "limited") || is(how, "report") || is(how, "beside");
    int used = is(how, "streams") ? STREAMS : 0;
    pthread_t thread;
    aclrtStream held;
    void *memory;

    require(words == 3, "two words");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtGetCurrentContext(&context));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateStream(&second));
    DO(aclrtCreateEventExWithFlag(&event, kind));
    DO(aclrtCreateNotify(&notify, 0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc((void **)&word, sizeof *word, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemset(word, sizeof *word, 0, sizeof *word));
    for (int i = 0; i < used; i++) {
        DO(aclrtCreateStream(&many[i]));
        DO(aclrtCreateEventExWithFlag(&each[i], ACL_EVENT_SYNC));
    }
    if (is(how, "beside")) {
        DO(aclrtCreateStream(&held));
        DO(aclrtLaunchHostFunc(held, hold, NULL));
    }
    if (has_second) {
        require(pthread_create(&thread, NULL, work, (void *)how) == 0, "a thread");
        until(&is_told, 1);
    }
    if (is(how, "report")) {
        DO(aclrtSubscribeReport((uint64_t)thread, stream));
    }
    for (int burst = 1; burst <= bursts; burst++) {
        for (int i = 0; i < BURST; i++) {
            DO(aclrtMemsetAsync(memory, BYTES, i, BYTES, stream));
        }
        for (int i = 0; i < used; i++) {
            DO(aclrtMemsetAsync(memory, BYTES, i, BYTES, many[i]));
            DO(aclrtRecordEvent(each[i], many[i]));
            DO(aclrtStreamWaitEvent(stream, each[i]));
        }
        wait_for(how, burst);
    }
    if (is(how, "report")) {
        DO(aclrtUnSubscribeReport((uint64_t)thread, stream));
    }
    is_over = 1;
    if (has_second) {
        pthread_join(thread, NULL);
    }
    DO(aclrtSynchronizeDevice());
    printf("%d bursts\n", bursts);
    return 0;
}
