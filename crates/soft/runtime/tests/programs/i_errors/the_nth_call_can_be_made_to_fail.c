/* The option fail makes one call fail with the given code, and no other.
   SOFTACL: fail=aclrtMalloc:3:207001/aclrtCreateStream:1:207008 */
#include "../check.h"

int main(void)
{
    void *memory;
    aclrtStream stream;
    start();
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtCreateStream(&stream), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    OK(aclrtCreateStream(&stream));
    return finish();
}
