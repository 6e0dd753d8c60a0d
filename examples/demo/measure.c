/* What timing tasks by events does to a device and its runtime: demo measure DEVICE
 *
 * Tasks with and without event records around them take turns, and medians are printed, one line each: a name
 * and nanoseconds. */
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 200, SMALL = 64, LARGE = 1 << 20, IN_A_ROW = 8 };

/* Events with a time that use no hardware event, where the runtime has them. */
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) __attribute__((weak));

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int by_size(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void tell(const char *name, int64_t *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    printf("%s %lld\n", name, (long long)values[count / 2]);
}

static aclrtEvent event(void) {
    aclrtEvent event;
    if (aclrtCreateEventExWithFlag != NULL) {
        CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    } else {
        CHECK(aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE));
    }
    return event;
}

/* Submitting tasks and waiting for them, bare and with records around each. */
static void tasks(aclrtStream stream, void *memory, int in_a_row, const char *const names[4]) {
    static int64_t submitting[2][ROUNDS], waiting[2][ROUNDS];
    aclrtEvent events[2 * IN_A_ROW];
    for (int i = 0; i < 2 * in_a_row; i++) {
        events[i] = event();
    }
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int timed = round % 2;
        int64_t begin = now();
        for (int task = 0; task < in_a_row; task++) {
            if (timed) {
                CHECK(aclrtRecordEvent(events[2 * task], stream));
            }
            CHECK(aclrtMemsetAsync(memory, SMALL, task, SMALL, stream));
            if (timed) {
                CHECK(aclrtRecordEvent(events[2 * task + 1], stream));
            }
        }
        int64_t submitted = now();
        CHECK(aclrtSynchronizeStream(stream));
        submitting[timed][round / 2] = (submitted - begin) / in_a_row;
        waiting[timed][round / 2] = now() - submitted;
    }
    tell(names[0], submitting[0], ROUNDS);
    tell(names[1], submitting[1], ROUNDS);
    tell(names[2], waiting[0], ROUNDS);
    tell(names[3], waiting[1], ROUNDS);
    for (int i = 0; i < 2 * in_a_row; i++) {
        CHECK(aclrtDestroyEvent(events[i]));
    }
}

/* What a record takes: of two behind a task both are waiting when their turn comes. And what reading costs. */
static void records(aclrtStream stream, void *memory) {
    static int64_t taking[ROUNDS], reading[ROUNDS], asking[ROUNDS];
    aclrtEvent first = event(), second = event();
    aclrtEventRecordedStatus status;
    float milliseconds;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(aclrtMemsetAsync(memory, LARGE, round, LARGE, stream));
        CHECK(aclrtMemsetAsync(memory, LARGE, round, LARGE, stream));
        CHECK(aclrtRecordEvent(first, stream));
        CHECK(aclrtRecordEvent(second, stream));
        CHECK(aclrtSynchronizeStream(stream));
        int64_t begin = now();
        CHECK(aclrtQueryEventStatus(second, &status));
        int64_t asked = now();
        CHECK(aclrtEventElapsedTime(&milliseconds, first, second));
        reading[round] = now() - asked;
        asking[round] = asked - begin;
        taking[round] = (int64_t)((double)milliseconds * 1e6 + 0.5);
    }
    qsort(taking, ROUNDS, sizeof *taking, by_size);
    printf("record_least %lld\n", (long long)taking[0]);
    printf("record_most %lld\n", (long long)taking[ROUNDS - 1]);
    tell("record", taking, ROUNDS);
    tell("query", asking, ROUNDS);
    tell("elapsed", reading, ROUNDS);
    CHECK(aclrtDestroyEvent(first));
    CHECK(aclrtDestroyEvent(second));
}

int demo_measure(int device) {
    static const char *const one[] = {"submit_1_bare", "submit_1_timed", "wait_1_bare", "wait_1_timed"};
    static const char *const many[] = {"submit_8_bare", "submit_8_timed", "wait_8_bare", "wait_8_timed"};
    aclrtStream stream;
    const char *name;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(device));
    name = aclrtGetSocName();
    printf("chip %s\n", name == NULL ? "unknown" : name);
    CHECK(aclrtCreateStream(&stream));
    void *memory = demo_device_memory(LARGE);
    tasks(stream, memory, 1, one);
    tasks(stream, memory, IN_A_ROW, many);
    records(stream, memory);
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(device));
    CHECK(aclFinalize());
    return 0;
}
