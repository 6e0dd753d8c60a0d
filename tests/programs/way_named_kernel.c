/* A kernel for the software runtime. */
#include <stdint.h>

void way_kernel(uint32_t block, uint32_t blocks, const void *arguments);

void way_kernel(uint32_t block, uint32_t blocks, const void *arguments)
{
    (void)block, (void)blocks, (void)arguments;
}
