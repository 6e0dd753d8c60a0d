/* A record of a copy or a fill has the times of its call, not those of what ran.
   SOFTACL: memset_ns=50000000,copy_ns=50000000 */
#include "../mspti.h"
#include <time.h>

static uint64_t wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
    aclrtStream stream;
    char *device;
    int32_t id;
    start();
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
    return finish();
}
