/* A function that no table has; with WRAPPED, a wrapper around it that does the least that recording a
 * call takes: it reads the clock before and after, and stores 64 bytes. */
#include <stdint.h>

#ifdef WRAPPED
static int count(int *value);
#define NAME static int count
#else
#define NAME int aclOwnCount
#endif

#ifdef WRAPPED
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

static int (*volatile real)(int *) = count;

int aclOwnCount(int *value)
{
    uint64_t *record = records[used++ % RECORDS];
    uint64_t begin = ticks();
    int code = real(value);
    record[0] = 1;
    record[1] = begin;
    record[2] = ticks();
    record[3] = (uint64_t)code;
    record[4] = (uint64_t)(uintptr_t)value;
    record[5] = record[6] = record[7] = 0;
    return code;
}
#endif

NAME(int *value)
{
    return ++*value;
}
