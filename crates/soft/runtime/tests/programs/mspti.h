/* What the programs of r_mspti share: the interface as far as they use it, and a profiler that keeps all records. */
#ifndef MSPTI_H
#define MSPTI_H

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_relu.h"
#include "check.h"
#include <pthread.h>

enum { KERNEL = 2, API = 3, HCCL = 4, MEMSET = 6, MEMCPY = 7, COMMUNICATION = 9 };

int msptiSubscribe(void **subscriber, void *callback, void *data);
int msptiUnsubscribe(void *subscriber);
int msptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(uint8_t *, size_t, size_t));
int msptiActivityEnable(int kind);
int msptiActivityDisable(int kind);
_Bool msptiActivityIsEnabled(int kind);
int msptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int msptiActivityFlushAll(uint32_t flag);

/* A record in words that all kinds have. */
struct seen {
    int kind;
    uint64_t start, end, correlation;
    uint32_t device, stream;
    char name[32];
};

static struct seen all[4096];
static int count;
static int buffers;

static inline uint64_t word(const uint8_t *record, int offset)
{
    uint64_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static inline void request(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 4096;
    *buffer = malloc(*size);
    *most = 0;
}

static inline void complete(uint8_t *buffer, size_t size, size_t valid)
{
    void *record = NULL;
    TRUE(valid <= size);
    buffers++;
    while (msptiActivityGetNextRecord(buffer, valid, &record) == 0) {
        const uint8_t *bytes = record;
        struct seen *it = &all[count++];
        memcpy(&it->kind, bytes, 4);
        int is_wide = it->kind == MEMCPY || it->kind == MEMSET;
        int times = is_wide ? 16 : 4, place = times + 16;
        it->start = word(bytes, times);
        it->end = word(bytes, times + 8);
        memcpy(&it->device, bytes + place, 4);
        memcpy(&it->stream, bytes + place + 4, 4);
        it->correlation = word(bytes, place + 8);
        it->name[0] = 0;
        if (!is_wide) {
            const char *name = (const char *)word(bytes, it->kind == KERNEL ? 44 : 36);
            snprintf(it->name, sizeof it->name, "%s", name);
        }
    }
    EXPECT(msptiActivityGetNextRecord(buffer, valid, &record), 3);
    free(buffer);
}

/* Subscribes, and enables a kind. */
static inline void *profile(int kind)
{
    void *subscriber = NULL;
    EXPECT(msptiSubscribe(&subscriber, NULL, NULL), 0);
    EXPECT(msptiActivityRegisterCallbacks(request, complete), 0);
    EXPECT(msptiActivityEnable(kind), 0);
    return subscriber;
}

/* An operator that can be launched again and again. */
static inline aclOpExecutor *kernel_of(void *memory, int64_t elements)
{
    aclTensor *tensors[2];
    aclOpExecutor *executor = NULL;
    uint64_t size;
    for (int i = 0; i < 2; i++)
        tensors[i] = aclCreateTensor(&elements, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &elements, 1, memory);
    OK(aclnnReluGetWorkspaceSize(tensors[0], tensors[1], &size, &executor));
    OK(aclSetAclOpExecutorRepeatable(executor));
    return executor;
}

#endif
