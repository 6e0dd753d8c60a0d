/* A tracer that meddles, to be preloaded: what is wrong with it depends on MEDDLER. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int does(const char *what)
{
    const char *asked = getenv("MEDDLER");
    return asked && !strcmp(asked, what);
}

static int inside;

/* Asks once about an event that is complete and was not seen to be, which takes as long as `query_ns`. */
static void *asks(void *event)
{
    aclrtEventRecordedStatus status;
    __atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
    REAL(aclrtQueryEventStatus)(event, &status);
    return NULL;
}

/* The program's call, passed on; errors of it are the program's. */
aclError aclrtFree(void *memory)
{
    if (does("error")) {
        REAL(aclrtFreeHost)(memory);
    } else if (does("take")) {
        REAL(aclrtGetLastError)(ACL_RT_THREAD_LEVEL);
    } else if (does("text")) {
        REAL(aclGetRecentErrMsg)();
    } else if (does("late")) {
        struct timespec span = {0, 200000000};
        pthread_t thread;
        aclrtEvent event;
        REAL(aclrtCreateEventExWithFlag)(&event, ACL_EVENT_TIME_LINE);
        REAL(aclrtRecordEvent)(event, NULL);
        pthread_create(&thread, NULL, asks, event);
        while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST)) {
        }
        nanosleep(&span, NULL);
    }
    return REAL(aclrtFree)(memory);
}
