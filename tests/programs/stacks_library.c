/* A library that calls AscendCL, for `stacks.c`. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

void call_in_library(void);

static volatile int sink;

void call_in_library(void)
{
    void *memory = NULL;
    DO(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST)); /* library */
    sink++;
}
