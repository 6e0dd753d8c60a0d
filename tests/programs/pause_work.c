/* Pauses outside AscendCL in which the thread works, sleeps, or first works and then sleeps. It prints how long it used a processor in
 * all of them, by its own clock. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 30

static long long used(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(long long ns) {
    long long end = used() + ns;
    while (used() < end) {
    }
}

static void rest(long ns) {
    struct timespec t = {0, ns};
    nanosleep(&t, NULL);
}

int main(void) {
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    void *memory;
    aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    long long sum = 0;
    for (int round = 0; round < 3 * ROUNDS; round++) {
        aclrtMemsetAsync(memory, 4096, 0, 4096, stream);
        aclrtSynchronizeStream(stream);
        long long before = used();
        if (round % 3 != 0)
            work(2000000);
        if (round % 3 != 1)
            rest(2000000);
        sum += used() - before;
        /* A call that the tool does not time: the next one shows the pause. */
        if (round % 2 == 0) {
            int device;
            aclrtGetDevice(&device);
        }
    }
    printf("%lld\n", sum);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
