/* A batch copies all of its parts, or names the first bad one. */
#include "../check.h"

int main(void)
{
    enum { PARTS = 4, SIZE = 256 };
    void *host[PARTS], *device[PARTS], *back[PARTS];
    size_t sizes[PARTS], lengths[PARTS] = {SIZE, SIZE, SIZE, SIZE}, at = 99, index = 0;
    aclrtMemcpyBatchAttr attr;
    aclrtStream stream;
    memset(&attr, 0, sizeof attr);
    start();
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < PARTS; i++) {
        sizes[i] = SIZE;
        OK(aclrtMallocHost(&host[i], SIZE));
        OK(aclrtMallocHost(&back[i], SIZE));
        OK(aclrtMalloc(&device[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        memset(host[i], i + 1, SIZE);
    }
    OK(aclrtMemcpyBatch(device, sizes, host, sizes, PARTS, &attr, &index, 1, &at));
    OK(aclrtMemcpyBatchAsync(back, sizes, device, sizes, PARTS, &attr, &index, 1, &at, stream));
    OK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < PARTS; i++) {
        EXPECT(memcmp(host[i], back[i], SIZE), 0);
    }
    device[2] = NULL;
    EXPECT(aclrtMemcpyBatchAsync(back, sizes, device, sizes, PARTS, &attr, &index, 1, &at, stream),
           ACL_ERROR_INVALID_PARAM);
    EXPECT(at, 2);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, sizes, PARTS, &attr, &index, 1, &at),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(at, 0);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, sizes, 0, &attr, &index, 1, &at),
           ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, sizes, PARTS, &attr, &index, 1, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, NULL, PARTS, &attr, &index, 1, &at), ACL_ERROR_INVALID_PARAM);
    sizes[3] = 0;
    EXPECT(aclrtMemcpyBatch(back, sizes, host, lengths, PARTS, &attr, &index, 1, &at), ACL_ERROR_INVALID_PARAM);
    memset(lengths, 0, sizeof lengths);
    OK(aclrtMemcpyBatch(NULL, NULL, NULL, lengths, PARTS, NULL, NULL, 0, &at));
    TRUE(at == SIZE_MAX);
    OK(aclrtMemcpyBatchAsync(NULL, NULL, NULL, lengths, PARTS, NULL, NULL, 0, &at, stream));
    return finish();
}
