/* Functions that streams run on the host: by a thread of the runtime, by a thread of the program that processes reports, and
 * as nodes of a graph. Words: how many of each, and how long each takes in µs, as a multiple of its number modulo 4. Prints a
 * digest of the order in which they ran and of their arguments. */
#include <pthread.h>
#include <stdatomic.h>

#include "program.h"

enum { REPLAYS = 3 };

static unsigned long digest = 7;
static int count, each;
static atomic_int is_over;
static aclrtStream served;

static void work(void *number)
{
    struct timespec time = {0, (long)((uintptr_t)number % 4) * each * 1000};

    digest = digest * 31 + (uintptr_t)number;
    if (time.tv_nsec > 0) {
        nanosleep(&time, NULL);
    }
}

static void *serve(void *unused)
{
    (void)unused;
    DO(aclrtSetDevice(0));
    while (!is_over) {
        aclrtProcessReport(10);
    }
    return NULL;
}

/* Functions and fills by turns. */
static void by_runtime(aclrtStream stream, void *memory)
{
    for (int i = 0; i < count; i++) {
        DO(aclrtMemsetAsync(memory, 4096, i & 0x7f, 4096, stream));
        DO(aclrtLaunchHostFunc(stream, work, (void *)(uintptr_t)i));
    }
    DO(aclrtSynchronizeStream(stream));
}

static void by_reports(void *memory)
{
    pthread_t thread;

    DO(aclrtCreateStream(&served));
    require(pthread_create(&thread, NULL, serve, NULL) == 0, "a thread");
    DO(aclrtSubscribeReport((uint64_t)thread, served));
    for (int i = 0; i < count; i++) {
        DO(aclrtMemsetAsync(memory, 4096, i & 0x7f, 4096, served));
        DO(aclrtLaunchCallback(work, (void *)(uintptr_t)i, ACL_CALLBACK_BLOCK, served));
    }
    DO(aclrtLaunchCallback(work, (void *)(uintptr_t)1000, ACL_CALLBACK_NO_BLOCK, served));
    DO(aclrtLaunchCallback(work, (void *)(uintptr_t)1001, ACL_CALLBACK_BLOCK, served));
    DO(aclrtSynchronizeStream(served));
    is_over = 1;
    pthread_join(thread, NULL);
    DO(aclrtUnSubscribeReport((uint64_t)thread, served));
}

static void by_graph(aclrtStream stream)
{
    aclmdlRI graph;

    DO(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    DO(aclrtLaunchHostFunc(stream, work, (void *)(uintptr_t)2001));
    DO(aclrtLaunchHostFunc(stream, work, (void *)(uintptr_t)2002));
    DO(aclmdlRICaptureEnd(stream, &graph));
    for (int i = 0; i < REPLAYS; i++) {
        DO(aclmdlRIExecuteAsync(graph, stream));
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclmdlRIDestroy(graph));
}

int main(int words, char **word)
{
    aclrtStream stream;
    void *memory;

    require(words == 3, "a number, and a duration");
    count = atoi(word[1]);
    each = atoi(word[2]);
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    by_runtime(stream, memory);
    by_reports(memory);
    by_graph(stream);
    /* Refused. */
    printf("%d\n", aclrtLaunchHostFunc(stream, NULL, memory) != ACL_SUCCESS);
    printf("%lu\n", digest);
    return 0;
}
