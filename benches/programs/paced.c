/* Makes one cheap AscendCL call at a given rate in several threads, and prints what it did:
 * calls, seconds, its own processor seconds, and those of the process that started it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"

enum { MOST = 64, TURNS_PER_SECOND = 1000 };

struct work {
    pthread_t thread;
    long rate, seconds, made;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* Keeps to the rate by sleeping between short runs; one that was held up catches up. */
static void *run(void *argument)
{
    struct work *work = argument;
    double begin = now();
    int32_t device;

    if (aclrtSetDevice(0) != ACL_SUCCESS) {
        exit(1);
    }
    long total = work->rate * work->seconds;
    while (work->made < total) {
        double passed = now() - begin;
        long due = passed < work->seconds ? (long)(passed * work->rate) : total;
        while (work->made < due) {
            aclrtGetDevice(&device);
            work->made++;
        }
        struct timespec rest = {0, 1000000000 / TURNS_PER_SECOND};
        nanosleep(&rest, NULL);
    }
    return NULL;
}

/* Processor seconds of another process, as far as they are known. */
static double seconds_of(int pid)
{
    char path[64];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                   &system) != 2) {
            user = system = 0;
        }
        fclose(file);
    }
    return (double)(user + system) / sysconf(_SC_CLK_TCK);
}

int main(int count, char **words)
{
    struct work works[MOST] = {0};
    struct rusage usage;
    long made = 0;

    if (count != 4 || aclInit(NULL) != ACL_SUCCESS) {
        fprintf(stderr, "usage: paced THREADS CALLS_PER_SECOND SECONDS\n");
        return 1;
    }
    int threads = atoi(words[1]);
    if (threads < 1 || threads > MOST) {
        return 1;
    }
    double begin = now();
    for (int i = 0; i < threads; i++) {
        works[i].rate = atol(words[2]) / threads;
        works[i].seconds = atol(words[3]);
        if (pthread_create(&works[i].thread, NULL, run, &works[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(works[i].thread, NULL);
        made += works[i].made;
    }
    double passed = now() - begin;
    getrusage(RUSAGE_SELF, &usage);
    double own = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                 (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("%ld %.3f %.3f %.3f\n", made, passed, own, seconds_of(getppid()));
    return 0;
}
