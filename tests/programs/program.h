/* What the test programs share. Each of them does one thing that is hard on a tracer, and prints
 * what it saw: the same with and without one.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

/* Ends the program with a status of its own when something fails that must not. */
#define DO(call) must((call), #call, __LINE__)

static inline void must(aclError code, const char *call, int line)
{
    if (code != ACL_SUCCESS) {
        fprintf(stderr, "line %d: %s failed with %d\n", line, call, (int)code);
        _exit(99);
    }
}

static inline void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        _exit(98);
    }
}

/* Fills device memory on a stream of its own: a call sequence that needs the whole runtime. */
static inline void fill_on_new_stream(int device, int tasks)
{
    enum { BYTES = 4096 };
    aclrtStream stream;
    void *buffer;

    DO(aclrtSetDevice(device));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < tasks; i++) {
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtFree(buffer));
    DO(aclrtDestroyStream(stream));
}

/* Waits for a child and prints how it ended. */
static inline void report_child(const char *name, pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        require(errno == EINTR, "the child can be waited for");
    }
    if (WIFSIGNALED(status)) {
        printf("%s: signal %d\n", name, WTERMSIG(status));
    } else {
        printf("%s: status %d\n", name, WEXITSTATUS(status));
    }
    fflush(stdout);
}

#endif
