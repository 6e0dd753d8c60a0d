/* What every conformance program shares: counted checks, and an orderly start. */
#ifndef CHECK_H
#define CHECK_H

#include <acl/acl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int checks;
static int failures;

#define EXPECT(expression, wanted)                                                          \
    do {                                                                                    \
        long long got_ = (long long)(expression);                                           \
        long long wanted_ = (long long)(wanted);                                            \
        checks++;                                                                           \
        if (got_ != wanted_) {                                                              \
            failures++;                                                                     \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__,            \
                    #expression, got_, wanted_);                                            \
        }                                                                                   \
    } while (0)

#define OK(call) EXPECT(call, ACL_SUCCESS)
#define TRUE(condition) EXPECT((condition) ? 1 : 0, 1)

static inline void start(void)
{
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

static inline int finish(void)
{
    printf("%d checks\n", checks);
    return failures != 0 || checks == 0;
}

/* Does the runtime run in strict mode? Programs of n_strict run in both modes. */
static inline int strict(void)
{
    const char *options = getenv("SOFTACL");
    return options && strstr(options, "strict");
}

static inline uint64_t host_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void sleep_ms(long ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

/* A host function that keeps its stream busy until it is let go. */
struct gate {
    int open;
    int entered;
};

static inline void wait_at_gate(void *data)
{
    struct gate *gate = data;
    __atomic_store_n(&gate->entered, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
}

static inline void open_gate(struct gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_SEQ_CST);
}

static inline void count_call(void *data)
{
    __atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
}

#endif
