// Kernels for kernel_names.c.
#include <stdint.h>
#include "kernel_names.h"

void template_kernel(uint32_t block, uint32_t blocks, const void *arguments) __asm__(NAMED_LIKE_A_TEMPLATE);
void long_kernel(uint32_t block, uint32_t blocks, const void *arguments) __asm__(NAMED_TOO_LONG);

void template_kernel(uint32_t block, uint32_t blocks, const void *arguments) {
    (void)block, (void)blocks, (void)arguments;
}

void long_kernel(uint32_t block, uint32_t blocks, const void *arguments) {
    (void)block, (void)blocks, (void)arguments;
}
