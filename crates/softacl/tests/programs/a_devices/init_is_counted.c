/* aclInit may be repeated; aclFinalize ends all, aclFinalizeReference one. */
#include "../check.h"

int main(void)
{
    uint64_t left = 99;
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    OK(aclFinalizeReference(&left));
    EXPECT(left, 2);
    OK(aclFinalizeReference(NULL));
    OK(aclFinalizeReference(&left));
    EXPECT(left, 0);
    EXPECT(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    OK(aclFinalize());
    OK(aclFinalize());
    OK(aclInit(NULL));
    OK(aclFinalize());
    return finish();
}
