/* Each kernel that the hardware runs is told once, in the order of its stream, with the call that submitted it.
   SOFTACL: mspti_kernels=1 */
#include "../mspti.h"

enum { ROUNDS = 100 };

int main(void)
{
    aclrtStream stream;
    void *device, *subscriber;
    int32_t id;
    start();
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
    return finish();
}
