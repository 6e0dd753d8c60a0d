/* Lies between the tracer and the runtime: counts the calls of functions that a tracer might make by itself, and
 * passes them on. At the end it tells how often each was called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#define FUNCTIONS(X) \
    X(aclmdlRICaptureGetInfo) X(aclrtCreateEvent) X(aclrtCreateEventExWithFlag) X(aclrtCreateEventWithFlag) \
    X(aclrtDestroyEvent) X(aclrtEventElapsedTime) X(aclrtEventGetTimestamp) X(aclrtGetCurrentContext) \
    X(aclrtGetDevice) X(aclrtGetFunctionName) X(aclrtGetSocName) X(aclrtPointerGetAttributes) \
    X(aclrtQueryEventStatus) X(aclrtRecordEvent) X(aclrtSetCurrentContext) X(aclrtStreamGetFlags) \
    X(aclrtStreamGetId) X(halGetAPIVersion) X(halGetDeviceInfo)

typedef long function(long, long, long, long, long, long);

#define COUNTED(name) \
    static unsigned calls_of_##name; \
    long name(long a, long b, long c, long d, long e, long f); \
    long name(long a, long b, long c, long d, long e, long f) \
    { \
        static function *real; \
        if (real == NULL) { \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        } \
        __atomic_fetch_add(&calls_of_##name, 1, __ATOMIC_RELAXED); \
        return real(a, b, c, d, e, f); \
    }
FUNCTIONS(COUNTED)

__attribute__((destructor)) static void tell(void)
{
    unsigned all = 0;
#define SUM(name) all += calls_of_##name;
    FUNCTIONS(SUM)
    if (all > 0) {
#define TELL(name) fprintf(stderr, #name " was called %u times\n", calls_of_##name);
        FUNCTIONS(TELL)
    }
}
