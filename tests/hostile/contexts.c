/* Many contexts, devices or streams, each with tasks: what the tracer keeps of them must stay small. Tells how
 * much memory the process has at the end. Words:
 *   after N    contexts are made and destroyed one after another
 *   live N D   so many contexts live at one time on each of so many devices
 *   devices N  so many devices are used
 *   streams N D  so many streams on each of so many devices, and an event for each
 *   events N   so many events live at one time, each recorded
 *   churn N    threads make and destroy streams and events as fast as they can: handles go from one to another
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

enum { BYTES = 256, TASKS = 3 };

/* Tells what is resident: memory of its own, of files, and shared. */
static void tell_memory(void)
{
    char line[256];
    long own = 0, files = 0, shared = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof(line), file)) {
        sscanf(line, "RssAnon: %ld kB", &own);
        sscanf(line, "RssFile: %ld kB", &files);
        sscanf(line, "RssShmem: %ld kB", &shared);
    }
    if (file) {
        fclose(file);
    }
    printf("own %ld\nfiles %ld\nshared %ld\n", own, files, shared);
}

/* A call that must succeed. */
#define GOOD(call) (COUNT(last = (call)), must(last, #call, __LINE__))

static _Thread_local aclError last;

/* Tasks on a stream of the current context, which is awaited and stays. */
static aclrtStream with_tasks(void *buffer)
{
    aclrtStream stream;

    GOOD(aclrtCreateStream(&stream));
    for (int i = 0; i < TASKS; i++) {
        GOOD(aclrtMemsetAsync(buffer, BYTES, 1, BYTES, stream));
    }
    return stream;
}

static void *memory(void)
{
    void *buffer;

    GOOD(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    return buffer;
}

static void contexts_after_another(int times)
{
    for (int i = 0; i < times; i++) {
        aclrtContext context;
        aclrtStream stream;
        void *buffer;

        GOOD(aclrtCreateContext(&context, 0));
        buffer = memory();
        stream = with_tasks(buffer);
        GOOD(aclrtSynchronizeStream(stream));
        GOOD(aclrtFree(buffer));
        GOOD(aclrtDestroyStream(stream));
        GOOD(aclrtDestroyContext(context));
    }
}

static void live_contexts(int number, int on)
{
    for (int i = 0; i < number * on; i++) {
        aclrtContext context;
        void *buffer;

        GOOD(aclrtCreateContext(&context, i % on));
        buffer = memory();
        GOOD(aclrtSynchronizeStream(with_tasks(buffer)));
    }
}

static void devices(int number)
{
    for (int i = 0; i < number; i++) {
        GOOD(aclrtSetDevice(i));
        GOOD(aclrtSynchronizeStream(with_tasks(memory())));
    }
}

static void streams(int number, int on)
{
    for (int device = 0; device < on; device++) {
        void *buffer;

        GOOD(aclrtSetDevice(device));
        buffer = memory();
        for (int i = 0; i < number; i++) {
            aclrtEvent event;
            aclrtStream stream = with_tasks(buffer);

            GOOD(aclrtCreateEvent(&event));
            GOOD(aclrtRecordEvent(event, stream));
        }
        GOOD(aclrtSynchronizeDevice());
    }
}

static void events(int number)
{
    aclrtStream stream;

    GOOD(aclrtSetDevice(0));
    GOOD(aclrtCreateStream(&stream));
    for (int i = 0; i < number; i++) {
        aclrtEvent event;

        GOOD(aclrtCreateEvent(&event));
        GOOD(aclrtRecordEvent(event, stream));
        if (i % 256 == 0) {
            GOOD(aclrtSynchronizeStream(stream));
        }
    }
    GOOD(aclrtSynchronizeStream(stream));
}

static int churns;

static void *churn(void *buffer)
{
    GOOD(aclrtSetDevice(0));
    for (int i = 0; i < churns; i++) {
        aclrtStream stream = with_tasks(buffer);
        aclrtEvent event;

        GOOD(aclrtCreateEvent(&event));
        GOOD(aclrtRecordEvent(event, stream));
        GOOD(aclrtSynchronizeStream(stream));
        GOOD(aclrtDestroyEvent(event));
        GOOD(aclrtDestroyStream(stream));
    }
    return NULL;
}

static void churn_in_threads(int number)
{
    pthread_t threads[4];

    churns = number;
    GOOD(aclrtSetDevice(0));
    void *buffer = memory();
    for (int i = 0; i < 4; i++) {
        require(pthread_create(&threads[i], NULL, churn, buffer) == 0, "a thread");
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(int count, char **words)
{
    const char *what = count > 2 ? words[1] : "";
    int number = count > 2 ? atoi(words[2]) : 0;

    GOOD(aclInit(NULL));
    if (strcmp(what, "after") == 0) {
        contexts_after_another(number);
    } else if (strcmp(what, "live") == 0) {
        live_contexts(number, count > 3 ? atoi(words[3]) : 1);
    } else if (strcmp(what, "devices") == 0) {
        devices(number);
    } else if (strcmp(what, "streams") == 0) {
        streams(number, count > 3 ? atoi(words[3]) : 1);
    } else if (strcmp(what, "churn") == 0) {
        churn_in_threads(number);
    } else if (strcmp(what, "events") == 0) {
        events(number);
    } else {
        return 96;
    }
    tell_memory();
    tell_counts();
    return 0;
}
