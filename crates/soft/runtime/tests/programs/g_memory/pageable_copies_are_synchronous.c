/* An asynchronous copy with pageable host memory waits for the stream and is done on return. */
#include "../check.h"

static void slow(void *data)
{
    sleep_ms(30);
    count_call(data);
}

int main(void)
{
    enum { SIZE = 1000 };
    static char pageable[SIZE];
    aclrtStream stream;
    void *device;
    int calls = 0;
    uint32_t before = 0, after = 0;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(device, SIZE, 3, SIZE, stream));
    OK(aclrtLaunchHostFunc(stream, slow, &calls));
    OK(aclrtGetThreadLastTaskId(&before));
    OK(aclrtMemcpyAsync(pageable, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT(calls, 1);
    EXPECT(pageable[SIZE - 1], 3);
    OK(aclrtGetThreadLastTaskId(&after));
    EXPECT(before, 1);
    EXPECT(after, before);
    return finish();
}
