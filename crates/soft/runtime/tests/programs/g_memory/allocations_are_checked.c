/* Sizes and policies are checked, and a pointer is freed once and as what it is. */
#include "../check.h"

int main(void)
{
    void *device = NULL, *host = NULL;
    start();
    EXPECT(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(&device, 64, (aclrtMemMallocPolicy)0x4000), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT((uintptr_t)device % 64, 0);
    OK(aclrtMallocHost(&host, 100));
    EXPECT((uintptr_t)host % 64, 0);
    EXPECT(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFreeHost(device), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtFreeHost(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtFree((char *)device + 64), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(device));
    EXPECT(aclrtFree(device), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFreeHost(host));
    OK(aclrtMallocCached(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFreeWithDevSync(device));
    OK(aclrtMallocAlign32(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(device));
    EXPECT(aclrtMallocHost(&host, 0), ACL_ERROR_INVALID_PARAM);
    return finish();
}
