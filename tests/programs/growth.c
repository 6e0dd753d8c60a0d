/* Programs whose memory grows from step to step, and the right programs nearest to them: one case by its name.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

#include "acl/acl_rt.h"

enum { STEPS = 24, BYTES = 1 << 20, LIMIT = 6 };

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);

static void *kept[STEPS];

static void *__attribute__((noinline)) keeps(size_t bytes)
{
    void *memory;

    DO(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

/* Memory that each step uses and frees. */
static void __attribute__((noinline)) works(int step)
{
    void *memory;

    DO(aclrtMalloc(&memory, (size_t)(1 + step % 3) * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemset(memory, BYTES, step, BYTES));
    DO(aclrtFree(memory));
}

static void each_step(int step)
{
    kept[step] = keeps(BYTES);
}

static void every_second_step(int step)
{
    if (step % 2) {
        kept[step] = keeps(BYTES);
    }
}

static void from_the_tenth_step(int step)
{
    if (step >= 10) {
        kept[step] = keeps(BYTES);
    }
}

static void cache(int step)
{
    if (step < LIMIT) {
        kept[step] = keeps(BYTES);
    }
}

static void last_few(int step)
{
    kept[step] = keeps(BYTES);
    if (step >= LIMIT) {
        DO(aclrtFree(kept[step - LIMIT]));
    }
}

static void freed_at_the_end(int step)
{
    kept[step] = keeps(BYTES);
}

static void cleared(int step)
{
    static int count;

    kept[count++] = keeps(BYTES);
    if (step % 10 == 9) {
        while (count > 0) {
            DO(aclrtFree(kept[--count]));
        }
    }
}

static void pool(int step)
{
    if (step == 0) {
        for (int i = 0; i < LIMIT; i++) {
            kept[i] = keeps(BYTES);
        }
    }
    DO(aclrtMemset(kept[step % LIMIT], BYTES, step, BYTES));
}

#define CASE(name) { #name, name }

static const struct {
    const char *name;
    void (*run)(int step);
} cases[] = {
    CASE(each_step), CASE(every_second_step), CASE(from_the_tenth_step), CASE(cache), CASE(last_few),
    CASE(freed_at_the_end), CASE(cleared), CASE(pool),
};

static size_t in_use(void)
{
    size_t left, all;

    DO(aclrtGetMemInfo(ACL_HBM_MEM, &left, &all));
    return all - left;
}

int main(int count, char **words)
{
    size_t first;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    first = in_use();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count < 2 || strcmp(words[1], cases[i].name) != 0) {
            continue;
        }
        for (int step = 0; step < STEPS; step++) {
            char name[32];
            uint64_t range;

            snprintf(name, sizeof(name), "step %d", step);
            range = mstxRangeStartA(name, NULL);
            works(step);
            cases[i].run(step);
            mstxRangeEnd(range);
        }
        if (cases[i].run == freed_at_the_end) {
            for (int step = 0; step < STEPS; step++) {
                DO(aclrtFree(kept[step]));
            }
        }
        /* By the runtime's own count. */
        printf("%s %zu\n", words[1], in_use() - first);
    }
    return 0;
}
