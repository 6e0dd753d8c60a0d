/* Another tool's library: counts calls and passes them on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static int calls;

int32_t aclrtMemsetAsync(void *address, size_t most, int32_t value, size_t count, void *stream);

int32_t aclrtMemsetAsync(void *address, size_t most, int32_t value, size_t count, void *stream)
{
    static int32_t (*real)(void *, size_t, int32_t, size_t, void *);

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "aclrtMemsetAsync");
    }
    calls++;
    return real(address, most, value, count, stream);
}

__attribute__((destructor)) static void tell(void)
{
    if (calls > 0) {
        fprintf(stderr, "the other tool saw %d\n", calls);
    }
}
