/* A fill may go to any memory; in strict mode only to memory that was allocated through acl. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 32 };
    char stack[SIZE] = {0};
    void *device, *pinned;
    start();
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, SIZE));
    OK(aclrtMemset(device, SIZE, 1, SIZE));
    OK(aclrtMemset(pinned, SIZE, 1, SIZE));
    EXPECT(*(char *)pinned, 1);
    EXPECT(aclrtMemset(stack, SIZE, 1, SIZE), strict() ? ACL_ERROR_RT_PARAM_INVALID : ACL_SUCCESS);
    EXPECT(stack[SIZE - 1], strict() ? 0 : 1);
    return finish();
}
