/* aclInit may be repeated; aclFinalize ends all, aclFinalizeReference one. */
#include "../check.h"

int main(void)
{
    uint64_t left = 99;
    OK(aclFinalize());
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(left, 0);
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
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    OK(aclInit(NULL));
    OK(aclFinalizeReference(NULL));
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    return finish();
}
