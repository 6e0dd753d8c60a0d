/* One thread waits in a call for ever; then the program ends as it is told: by SIGKILL, by a return from
 * main, or when somebody has opened and closed a pipe. It tells when the thread had been seen waiting.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "../programs/program.h"

static aclrtStream stream;
static aclrtEvent never;
static atomic_int waiter;

static void *waits(void *unused)
{
    (void)unused;
    DO(aclrtSetDevice(0));
    atomic_store(&waiter, (int)syscall(SYS_gettid));
    /* Nothing takes the callback, so the stream never gets beyond it. */
    aclrtSynchronizeStream(stream);
    return NULL;
}

static void nothing(void *unused) { (void)unused; }

/* Whether a thread sleeps, by what the kernel says. */
static int sleeps(int tid)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            state = 0;
        }
        fclose(file);
    }
    return state == 'S';
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";
    pthread_t thread;
    struct timespec now;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateEvent(&never));
    DO(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    DO(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, stream));
    DO(aclrtRecordEvent(never, stream));
    pthread_create(&thread, NULL, waits, NULL);
    /* It sleeps nowhere between telling its number and the call: nobody holds a lock against it. */
    while (atomic_load(&waiter) == 0 || !sleeps(atomic_load(&waiter))) {
        sched_yield();
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("hangs %lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    fflush(stdout);
    if (strcmp(how, "killed") == 0) {
        kill(getpid(), SIGKILL);
    }
    if (strcmp(how, "told") == 0 && count > 2) {
        FILE *pipe = fopen(words[2], "r");

        while (pipe && getc(pipe) != EOF) {
        }
    }
    _exit(3);
}
