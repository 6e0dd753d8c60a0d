/* Kernels for the software runtime. */
#include <stdint.h>
#include "long_names.h"

#define KERNEL(name)                                                                               \
    void name(uint32_t block, uint32_t blocks, const void *arguments);                             \
    void name(uint32_t block, uint32_t blocks, const void *arguments)                              \
    {                                                                                              \
        (void)block, (void)blocks, (void)arguments;                                                \
    }
#define LONG_KERNEL(last) KERNEL(LONG_NAME(last))

KERNELS(LONG_KERNEL)
KERNEL(short_kernel)
