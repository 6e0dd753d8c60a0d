/* One sequence of calls through function pointers, which each program fetches in a way of its own.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_WAYS_H
#define TESTS_WAYS_H

#include "program.h"
#include <dlfcn.h>

#define WAYS_FUNCTIONS(X) \
    X(aclInit) X(aclFinalize) X(aclrtSetDevice) X(aclrtResetDevice) X(aclrtGetDevice) \
    X(aclrtCreateStream) X(aclrtDestroyStream) X(aclrtSynchronizeStream) \
    X(aclrtMalloc) X(aclrtFree) X(aclrtMemsetAsync)

struct ways {
#define X(name) __typeof__(&name) name;
    WAYS_FUNCTIONS(X)
#undef X
};

/* Fetches every function; what is not there ends the program. */
static inline struct ways ways_fetch(void *(*fetch)(const char *name))
{
    struct ways way;
#define X(name) \
    *(void **)&way.name = fetch(#name); \
    require(way.name != NULL, "there is a " #name);
    WAYS_FUNCTIONS(X)
#undef X
    return way;
}

/* What the libraries lack is not there, and the loader says why; what they have leaves no error. */
static inline void ways_detect(void *(*fetch)(const char *name))
{
    (void)dlerror();
    printf("a launch below the interface: %s", fetch("rtFusionLaunch") ? "yes" : "no");
    printf(", %s\n", dlerror() ? "with a reason" : "without one");
    printf("something unheard of: %s", fetch("aclrtUnheardOf") ? "yes" : "no");
    printf(", %s\n", dlerror() ? "with a reason" : "without one");
    printf("a device count: %s", fetch("aclrtGetDeviceCount") ? "yes" : "no");
    printf(", %s\n", dlerror() ? "with a reason" : "without one");
}

/* Fourteen calls, three tasks, one failure. */
static inline void ways_run(const struct ways *way)
{
    enum { BYTES = 4096 };
    aclrtStream stream;
    void *buffer;

    DO(way->aclInit(NULL));
    DO(way->aclrtSetDevice(1));
    DO(way->aclrtCreateStream(&stream));
    DO(way->aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    for (int i = 1; i <= 3; i++) {
        DO(way->aclrtMemsetAsync(buffer, BYTES, i, (size_t)i * 100, stream));
    }
    DO(way->aclrtSynchronizeStream(stream));
    printf("no place for a device: %d\n", (int)way->aclrtGetDevice(NULL));
    DO(way->aclrtFree(buffer));
    DO(way->aclrtDestroyStream(stream));
    DO(way->aclrtResetDevice(1));
    DO(way->aclFinalize());
}

#endif
