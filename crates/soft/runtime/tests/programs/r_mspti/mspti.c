#include "../cases.h"
#include "../mspti.h"
#include <time.h>

/* 310P and 910A have no log of the hardware's.
   SOFTACL: chip=310p */
CASE(chips_without_a_log_refuse)
{
    void *subscriber = NULL;
    EXPECT(msptiSubscribe(&subscriber, NULL, NULL), 0);
    EXPECT(msptiActivityRegisterCallbacks(request, complete), 0);
    EXPECT(msptiActivityEnable(KERNEL), 4);
    TRUE(!msptiActivityIsEnabled(KERNEL));
}

static uint64_t wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A record of a copy or a fill has the times of its call, not those of what ran.
   SOFTACL: memset_ns=50000000,copy_ns=50000000 */
CASE(copies_and_fills_are_told_by_their_calls)
{
    aclrtStream stream;
    char *device;
    int32_t id;
    OK(aclrtCreateStream(&stream));
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtMalloc((void **)&device, 8192, ACL_MEM_MALLOC_HUGE_FIRST));
    profile(MEMSET);
    EXPECT(msptiActivityEnable(MEMCPY), 0);
    uint64_t before = wall();
    OK(aclrtMemsetAsync(device, 4096, 1, 4096, stream));
    OK(aclrtMemcpyAsync(device + 4096, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    uint64_t submitted = wall();
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    EXPECT(count, 2);
    EXPECT(all[0].kind, MEMSET);
    EXPECT(all[1].kind, MEMCPY);
    for (int i = 0; i < count; i++) {
        EXPECT(all[i].stream, id);
        /* The wall clock is read twice. */
        TRUE(all[i].start + 100000 >= before && all[i].end >= all[i].start);
        TRUE(all[i].end <= submitted + 100000);
    }
}

/* Every fifth record is lost, every third has no times.
   SOFTACL: mspti_drop=5,mspti_zero=3,chip=950 */
CASE(defects_are_as_asked_for)
{
    aclrtStream stream;
    void *device;
    int zero = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    aclOpExecutor *kernel = kernel_of(device, 4);
    profile(KERNEL);
    for (int i = 0; i < 150; i++)
        OK(aclnnRelu(NULL, 0, kernel, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    EXPECT(count, 120);
    for (int i = 0; i < count; i++)
        zero += all[i].start == 0 && all[i].end == 0;
    EXPECT(zero, 40);
}

/* A second subscriber is refused, and so is what needs the library to be preloaded.
   SOFTACL: mspti=preload */
CASE(one_profiler_at_a_time)
{
    void *first = NULL, *second = NULL;
    EXPECT(msptiSubscribe(NULL, NULL, NULL), 1);
    EXPECT(msptiSubscribe(&first, NULL, NULL), 0);
    EXPECT(msptiSubscribe(&second, NULL, NULL), 2);
    EXPECT(msptiUnsubscribe(second), 1);
    EXPECT(msptiActivityRegisterCallbacks(request, NULL), 1);
    EXPECT(msptiActivityRegisterCallbacks(request, complete), 0);
    EXPECT(msptiActivityEnable(KERNEL), 0);
    EXPECT(msptiActivityEnable(COMMUNICATION), 0);
    EXPECT(msptiActivityEnable(HCCL), 6);
    EXPECT(msptiActivityEnable(MEMCPY), 6);
    EXPECT(msptiActivityEnable(77), 1);
    EXPECT(msptiUnsubscribe(first), 0);
    EXPECT(msptiSubscribe(&second, NULL, NULL), 0);
}

enum { ROUNDS = 100 };

/* Each kernel that the hardware runs is told once, in the order of its stream, with the call that submitted it.
   SOFTACL: mspti_kernels=1 */
CASE(records_tell_what_ran)
{
    aclrtStream stream;
    void *device, *subscriber;
    int32_t id;
    OK(aclrtCreateStream(&stream));
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    aclOpExecutor *kernel = kernel_of(device, 4);
    OK(aclnnRelu(NULL, 0, kernel, stream));
    subscriber = profile(KERNEL);
    EXPECT(msptiActivityEnable(API), 0);
    TRUE(msptiActivityIsEnabled(KERNEL) && !msptiActivityIsEnabled(MEMCPY));
    for (int i = 0; i < ROUNDS; i++)
        OK(aclnnRelu(NULL, 0, kernel, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    int tasks = 0, calls = 0;
    uint64_t last_end = 0, last_number = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].kind == API) {
            calls++;
            TRUE(strcmp(all[i].name, "aclnnRelu") == 0);
            continue;
        }
        /* The first one was submitted before anybody subscribed, and may have run since. */
        if (all[i].correlation == 0)
            continue;
        EXPECT(all[i].kind, KERNEL);
        EXPECT(all[i].stream, id);
        TRUE(all[i].start >= last_end && all[i].end > all[i].start);
        TRUE(all[i].correlation > last_number);
        last_end = all[i].end;
        last_number = all[i].correlation;
        tasks++;
    }
    EXPECT(tasks, ROUNDS);
    EXPECT(calls, ROUNDS);
    TRUE(buffers > 1);
    /* Who leaves has to disable what he has enabled. */
    EXPECT(msptiUnsubscribe(subscriber), 0);
    TRUE(msptiActivityIsEnabled(KERNEL));
    EXPECT(msptiActivityDisable(KERNEL), 0);
    EXPECT(msptiActivityDisable(API), 0);
    int before = count;
    OK(aclnnRelu(NULL, 0, kernel, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    EXPECT(count, before);
}
