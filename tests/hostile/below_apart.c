// After a question about a stream, context or device that the layer below takes apart, by force or not, while tasks
// are asked about: on a card the question goes on with freed memory.
//
//   below_apart ROUNDS
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../programs/below.h"

enum { BYTES = 4096, TASKS = 30, STREAMS = 6 };

static int made;
static void *streams[STREAMS];

static void check(int code, const char *what) {
    made++;
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static void submit(void *memory) {
    for (int i = 0; i < STREAMS; i++) {
        check(rtStreamCreate(&streams[i], 0), "stream");
        for (int task = 0; task < TASKS; task++) {
            check(rtMemsetAsync(memory, BYTES, (uint32_t)task, BYTES, streams[i]), "memset");
        }
    }
}

static void destroy(int round) {
    for (int i = 0; i < STREAMS; i++) {
        switch ((round + i) % 3) {
        case 0: check(rtStreamDestroy(streams[i]), "destroy"); break;
        case 1: check(rtStreamDestroyForce(streams[i]), "destroy by force"); break;
        default: break;
        }
    }
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 20;
    for (int round = 0; round < rounds; round++) {
        void *memory, *context;
        check(rtSetDevice(0), "device");
        if (round % 4 == 1) check(rtCtxCreate(&context, 0, 0), "context");
        check(rtMalloc(&memory, BYTES, 2, 0), "memory");
        submit(memory);
        // Longer than pairs are left alone.
        if (round % 4 == 0) usleep(70000);
        destroy(round);
        if (round % 4 == 1) check(rtCtxDestroy(context), "destroy the context");
        check(round % 2 == 0 ? rtDeviceReset(0) : rtDeviceResetForce(0), "reset");
    }
    printf("made %d\n", made);
    return 0;
}
