/* Memory of a pool is given back when the stream gets there. */
#include "../check.h"
#include <acl/acl_rt_memory_soma.h>

int main(void)
{
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps properties;
    aclrtStream stream;
    struct gate gate = {0, 0};
    void *memory = NULL, *base = NULL;
    size_t size = 0;
    memset(&properties, 0, sizeof properties);
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemPoolCreate(&pool, &properties));
    EXPECT(aclrtMemPoolMallocAsync(&memory, 1000, NULL, stream), ACL_ERROR_INVALID_PARAM);
    OK(aclrtMemPoolMallocAsync(&memory, 1000, pool, stream));
    OK(aclrtMemsetAsync(memory, 1000, 1, 1000, stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtMemPoolFreeAsync(memory, stream));
    OK(aclrtMemGetAddressRange((char *)memory + 10, &base, &size));
    TRUE(base == memory && size == 1000);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    EXPECT(aclrtMemGetAddressRange((char *)memory + 10, &base, &size), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemPoolTrimTo(pool, 0));
    OK(aclrtMemPoolDestroy(pool));
    EXPECT(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
