/* throughput TASKS: how many tasks a second go through 8 streams, by kind, and how long one
 * submission takes. */
#include "../check.h"

enum { STREAMS = 8 };

static aclrtStream streams[STREAMS];
static aclrtEvent event;
static void *memory;

static int fill(int i)
{
    return aclrtMemsetAsync(memory, 1, 0, 1, streams[i % STREAMS]);
}

static int mark(int i)
{
    return aclrtResetOverflowStatus(streams[i % STREAMS]);
}

static int record(int i)
{
    return aclrtRecordEvent(event, streams[i % STREAMS]);
}

static void measure(const char *name, int (*submit)(int), int count)
{
    uint64_t begin = host_ns();
    int failed = 0;
    for (int i = 0; i < count; i++) {
        failed += submit(i) != 0;
    }
    uint64_t submitted = host_ns();
    OK(aclrtSynchronizeDevice());
    uint64_t done = host_ns();
    EXPECT(failed, 0);
    printf("%-8s %7.3f M tasks/s, %6.1f ns a submission\n", name, count * 1e3 / (double)(done - begin),
           (double)(submitted - begin) / count);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100000;
    start();
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtCreateStream(&streams[i]));
    }
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    measure("empty", mark, count);
    measure("memset", fill, count);
    measure("record", record, count);
    return finish();
}
