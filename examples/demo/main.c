/* The programs of `ascend-trace demo`: demo NAME ROUNDS; and of `doctor --measure`: demo measure DEVICE
 *
 * They know nothing of the tracer, and run on any AscendCL: with real hardware too. */
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    int (*run)(int rounds);
} DEMOS[] = {
    {"overlap", demo_overlap},
    {"pipeline", demo_pipeline},
    {"stall", demo_stall},
    {"transformer", demo_transformer},
};

void demo_check(aclError code, const char *call) {
    if (code != ACL_SUCCESS) {
        fprintf(stderr, "demo: %s answered %d\n", call, (int)code);
        exit(1);
    }
}

void *demo_device_memory(size_t bytes) {
    void *memory = NULL;
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

void *demo_pinned_memory(size_t bytes) {
    void *memory = NULL;
    CHECK(aclrtMallocHost(&memory, bytes));
    return memory;
}

/* The host is busy with something else. */
void demo_host_work(unsigned us) {
    struct timespec rest = {us / 1000000, (long)(us % 1000000) * 1000};
    while (us > 0 && nanosleep(&rest, &rest) != 0) {
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s NAME ROUNDS\n", argv[0]);
        return 2;
    }
    int rounds = atoi(argv[2]);
    if (strcmp(argv[1], "measure") == 0) {
        return demo_measure(rounds);
    }
    for (size_t i = 0; i < sizeof DEMOS / sizeof DEMOS[0]; i++) {
        if (strcmp(argv[1], DEMOS[i].name) != 0) {
            continue;
        }
        CHECK(aclInit(NULL));
        CHECK(aclrtSetDevice(0));
        int result = DEMOS[i].run(rounds);
        CHECK(aclrtResetDevice(0));
        CHECK(aclFinalize());
        printf("%s: %d rounds, %s\n", argv[1], rounds, result == 0 ? "correct" : "WRONG");
        return result;
    }
    fprintf(stderr, "demo: there is no demo %s\n", argv[1]);
    return 2;
}
