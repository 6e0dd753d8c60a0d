/* A program that does what the lines of its input say, and checks every result. It is started once, and recorded in parts.
 *   fill N    fills N * 64 bytes on one stream, copies them on another one, and compares
 *   make      makes a further stream and event, and uses them from then on
 *   reset     the same, after a reset of the device
 *   capture N captures a fill of N * 64 bytes into a graph
 *   replay    runs the graph
 *   load N    starts N threads that do all kinds of calls
 *   rest      ends these threads
 *   last      checks the ids of the thread's last tasks
 *   fork      starts a child that takes over the input, and waits for it
 *   exec      starts the program again in this process
 *   end       ends
 * With the word `late`, it waits for a line before it calls AscendCL.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

#include <stdatomic.h>

enum { MOST = 1 << 16, THREADS = 8, STATUS = 7 };

struct objects {
    aclrtStream streams[2];
    aclrtEvent event;
    unsigned char *device, *host;
};

static atomic_int is_over;
static atomic_long rounds;
/* The id of the last task, if no other one was submitted since. */
static uint32_t known;

static void say(const char *what, long number)
{
    printf("%s %ld\n", what, number);
    fflush(stdout);
}

static struct objects make(void)
{
    struct objects all;

    DO(aclrtCreateStream(&all.streams[0]));
    DO(aclrtCreateStream(&all.streams[1]));
    DO(aclrtCreateEvent(&all.event));
    DO(aclrtMalloc((void **)&all.device, MOST, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost((void **)&all.host, MOST));
    return all;
}

static void destroy(struct objects *all)
{
    DO(aclrtDestroyEvent(all->event));
    DO(aclrtDestroyStream(all->streams[0]));
    DO(aclrtDestroyStream(all->streams[1]));
    DO(aclrtFree(all->device));
    DO(aclrtFreeHost(all->host));
}

static void fill(struct objects *all, size_t bytes, int value)
{
    known = 0;
    memset(all->host, 0, bytes);
    DO(aclrtMemsetAsync(all->device, MOST, value, bytes, all->streams[0]));
    DO(aclrtRecordEvent(all->event, all->streams[0]));
    DO(aclrtStreamWaitEvent(all->streams[1], all->event));
    DO(aclrtMemcpyAsync(all->host, MOST, all->device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, all->streams[1]));
    DO(aclrtSynchronizeStream(all->streams[1]));
    DO(aclrtSynchronizeStream(all->streams[0]));
    for (size_t i = 0; i < bytes; i++) {
        require(all->host[i] == (unsigned char)value, "the copy has the value of the fill");
    }
}

/* The id of the last task of this thread, which was the same a call before. */
static uint32_t last_task(void)
{
    uint32_t one = 0, again = 0;

    DO(aclrtGetThreadLastTaskId(&one));
    DO(aclrtGetThreadLastTaskId(&again));
    require(one == again, "a question is no task");
    return one;
}

static void check_last(struct objects *all)
{
    require(!known || last_task() == known, "nothing was submitted since");
    for (int i = 0; i < 3; i++) {
        uint32_t before = last_task();

        DO(aclrtMemsetAsync(all->device, MOST, 1, 32, all->streams[0]));
        known = last_task();
        /* The one before the first may be of another stream, which has its own ids. */
        require(i == 0 || known != before, "a task has another id than the one before");
    }
    DO(aclrtSynchronizeStream(all->streams[0]));
    require(last_task() == known, "a synchronisation is no task");
}

static void *load(void *number)
{
    struct objects all;
    int32_t device = -1;

    DO(aclrtSetDevice(0));
    all = make();
    /* At least once, however soon it is over. */
    for (int i = 1; i == 1 || !is_over; i++) {
        fill(&all, 128, i & 0xff);
        DO(aclrtGetDevice(&device));
        require(device == 0, "the device is the one that was set");
        require(aclrtFree(NULL) != ACL_SUCCESS, "nothing cannot be freed");
        if (i % 16 == (int)(intptr_t)number) {
            destroy(&all);
            all = make();
        }
        rounds++;
    }
    destroy(&all);
    return NULL;
}

int main(int count, char **words)
{
    struct objects all;
    pthread_t threads[THREADS];
    aclmdlRI graph = NULL;
    char line[64];
    long number, running = 0;

    if (count > 1 && !strcmp(words[1], "late")) {
        say("late", getpid());
        require(fgets(line, sizeof(line), stdin) != NULL, "a line comes");
    }
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    all = make();
    say("pid", getpid());
    while (fgets(line, sizeof(line), stdin)) {
        number = 0;
        if (sscanf(line, "fill %ld", &number) == 1) {
            fill(&all, (size_t)number * 64, (int)number);
            say("filled", number);
        } else if (!strncmp(line, "make", 4)) {
            destroy(&all);
            all = make();
            say("made", 0);
        } else if (!strncmp(line, "reset", 5)) {
            destroy(&all);
            DO(aclrtResetDevice(0));
            DO(aclrtSetDevice(0));
            all = make();
            say("reset", 0);
        } else if (sscanf(line, "capture %ld", &number) == 1) {
            DO(aclmdlRICaptureBegin(all.streams[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
            DO(aclrtMemsetAsync(all.device, MOST, 3, (size_t)number * 64, all.streams[0]));
            DO(aclmdlRICaptureEnd(all.streams[0], &graph));
            say("captured", number);
        } else if (!strncmp(line, "replay", 6)) {
            DO(aclmdlRIExecuteAsync(graph, all.streams[0]));
            DO(aclrtSynchronizeStream(all.streams[0]));
            say("replayed", 0);
        } else if (sscanf(line, "load %ld", &number) == 1) {
            is_over = 0;
            for (running = 0; running < number && running < THREADS; running++) {
                require(!pthread_create(&threads[running], NULL, load, (void *)(intptr_t)running), "a thread");
            }
            say("loads", number);
        } else if (!strncmp(line, "rest", 4)) {
            is_over = 1;
            while (running > 0) {
                pthread_join(threads[--running], NULL);
            }
            say("rests", rounds > 0);
        } else if (!strncmp(line, "last", 4)) {
            check_last(&all);
            say("last", 0);
        } else if (!strncmp(line, "fork", 4)) {
            pid_t child = fork();
            if (child > 0) {
                report_child("child", child);
                continue;
            }
            DO(aclrtSetDevice(0));
            all = make();
            say("pid", getpid());
        } else if (!strncmp(line, "exec", 4)) {
            execv("/proc/self/exe", words);
        } else if (!strncmp(line, "end", 3)) {
            break;
        }
    }
    destroy(&all);
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return STATUS;
}
