/* Counts what an example asks of AscendCL, so that its own word can be held against a trace.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef EXAMPLES_COUNT_H
#define EXAMPLES_COUNT_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

static atomic_int counted_calls;
static atomic_int counted_tasks;
static atomic_int counted_waits;

static void expect_success(aclError code, const char *call)
{
    if (code != ACL_SUCCESS) {
        fprintf(stderr, "%s failed with %d\n", call, (int)code);
        exit(1);
    }
}

static void count(int tasks, int waits)
{
    counted_calls++;
    counted_tasks += tasks;
    counted_waits += waits;
}

/* A call that submits nothing. */
#define CALL(call) (count(0, 0), expect_success((call), #call))
/* A call that puts one task on a stream. */
#define TASK(call) (count(1, 0), expect_success((call), #call))
/* A call that makes a stream wait for an event: a task as well. */
#define WAIT(call) (count(1, 1), expect_success((call), #call))

/* The last line of every example. */
static int report_counts(void)
{
    printf("calls %d, tasks %d, waits %d\n", counted_calls, counted_tasks, counted_waits);
    return 0;
}

#endif
