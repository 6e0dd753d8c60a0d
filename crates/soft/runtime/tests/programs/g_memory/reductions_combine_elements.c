/* ReduceAsync adds, or keeps the larger or smaller element. */
#include "../check.h"

int main(void)
{
    enum { N = 50 };
    float *host;
    float *first, *second;
    aclrtStream stream;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&host, N * 4));
    OK(aclrtMalloc((void **)&first, N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&second, N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    OK(aclrtMemcpyAsync(first, N * 4, host, N * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(second, N * 4, host, N * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtReduceAsync(first, second, N * 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, NULL));
    OK(aclrtReduceAsync(second, first, N * 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_FLOAT, stream, NULL));
    OK(aclrtMemcpyAsync(host, N * 4, second, N * 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    TRUE(host[0] == 0 && host[1] == 2 && host[N - 1] == 2 * (N - 1));
    EXPECT(aclrtReduceAsync(first, second, N * 4, (aclrtReduceKind)1, ACL_FLOAT, stream, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtReduceAsync(first, second, 3, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
