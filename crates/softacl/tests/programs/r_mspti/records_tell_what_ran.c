/* Each task that the hardware runs is told once, in the order of its stream, with the call that submitted it.
   SOFTACL: mspti_kernels=1 */
#include "../mspti.h"

enum { ROUNDS = 100 };

int main(void)
{
    aclrtStream stream;
    void *device, *other, *subscriber;
    int32_t id;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&other, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(device, 4096, 1, 4096, stream));
    subscriber = profile();
    EXPECT(msptiActivityEnable(API), 0);
    TRUE(msptiActivityIsEnabled(MEMCPY) && !msptiActivityIsEnabled(KERNEL));
    for (int i = 0; i < ROUNDS; i++) {
        OK(aclrtMemsetAsync(device, 4096, i, 4096, stream));
        OK(aclrtMemcpyAsync(other, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    }
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    int tasks = 0, calls = 0;
    uint64_t last_end = 0, last_number = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].kind == API) {
            calls++;
            TRUE(strcmp(all[i].name, "aclrtMemsetAsync") == 0 || strcmp(all[i].name, "aclrtMemcpyAsync") == 0);
            continue;
        }
        /* The first fill was submitted before anybody subscribed, and may have run since. */
        if (all[i].correlation == 0)
            continue;
        EXPECT(all[i].kind, tasks % 2 ? MEMCPY : MEMSET);
        EXPECT(all[i].stream, id);
        TRUE(all[i].start >= last_end && all[i].end > all[i].start);
        TRUE(all[i].correlation > last_number);
        last_end = all[i].end;
        last_number = all[i].correlation;
        tasks++;
    }
    EXPECT(tasks, 2 * ROUNDS);
    EXPECT(calls, 2 * ROUNDS);
    TRUE(buffers > 1);
    EXPECT(msptiUnsubscribe(subscriber), 0);
    int before = count;
    OK(aclrtMemsetAsync(device, 4096, 1, 4096, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    EXPECT(count, before);
    return finish();
}
