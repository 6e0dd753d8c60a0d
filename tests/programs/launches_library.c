/* A runtime with streams, tasks and events that does as little as possible: a count of its caller's instructions and locked
 * instructions is that of the caller. Its streams share nothing. A task is done when it is submitted, and takes no time.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>

#include "acl/acl.h"

/* The device's time of the last record. */
struct event {
    int64_t ns;
};

/* The device's clock of a stream. Each record takes a microsecond. */
struct stream {
    int64_t ns;
    char rest[120];
};

static char the_context;

/* A NULL stream is this one. */
static struct stream the_default = {.ns = 1000000000};

aclError aclInit(const char *path)
{
    (void)path;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device)
{
    (void)device;
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t device)
{
    (void)device;
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t *device)
{
    *device = 0;
    return ACL_SUCCESS;
}

const char *aclrtGetSocName(void)
{
    return "Ascend910B1";
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    *context = &the_context;
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    (void)context;
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void **memory, size_t bytes, aclrtMemMallocPolicy policy)
{
    (void)policy;
    *memory = malloc(bytes);
    return *memory ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}

aclError aclrtFree(void *memory)
{
    free(memory);
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    struct stream *made = calloc(1, sizeof *made);

    if (!made) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    made->ns = 1000000000;
    *stream = made;
    return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    free(stream);
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *id)
{
    (void)stream;
    *id = 2;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    (void)stream;
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *memory, size_t most, int32_t value, size_t bytes, aclrtStream stream)
{
    (void)memory, (void)most, (void)value, (void)bytes, (void)stream;
    return ACL_SUCCESS;
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    (void)flag;
    *event = calloc(1, sizeof(struct event));
    return *event ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    free(event);
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    struct stream *on = stream ? stream : &the_default;

    ((struct event *)event)->ns = on->ns += 1000;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    (void)event;
    *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent from, aclrtEvent to)
{
    *ms = (float)((double)(((struct event *)to)->ns - ((struct event *)from)->ns) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *us)
{
    *us = (uint64_t)((struct event *)event)->ns / 1000;
    return ACL_SUCCESS;
}
