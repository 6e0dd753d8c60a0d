/* A device has so much memory, and tells how much is left.
   SOFTACL: memory=8388608 */
#include "../check.h"

int main(void)
{
    void *big, *second;
    size_t free_before = 0, free_after = 0, total = 0;
    start();
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    EXPECT(total, 8388608);
    EXPECT(free_before, total);
    OK(aclrtMalloc(&big, 6 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtMalloc(&second, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    TRUE(free_after <= free_before - (6 << 20) && free_after >= 1 << 20);
    OK(aclrtFree(big));
    OK(aclrtMalloc(&second, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &total), ACL_ERROR_INVALID_PARAM);
    return finish();
}
