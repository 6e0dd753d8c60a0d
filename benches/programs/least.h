/* The least that a wrapper can do to record a call: read the clock before and after, and store 64
 * bytes. What the tracer costs is held against this. */
#include <stdint.h>

enum { RECORDS = 1 << 14 };

static uint64_t records[RECORDS][8];
static uint64_t used;

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
#error "no tick counter known for this architecture"
#endif
}

/* Makes the call, which answers a code, and records it with its argument. */
#define RECORDED(call, argument) \
    do { \
        uint64_t *record = records[used++ % RECORDS]; \
        uint64_t begin = ticks(); \
        int code = (call); \
        record[0] = 1; \
        record[1] = begin; \
        record[2] = ticks(); \
        record[3] = (uint64_t)code; \
        record[4] = (uint64_t)(uintptr_t)(argument); \
        record[5] = record[6] = record[7] = 0; \
        return code; \
    } while (0)
