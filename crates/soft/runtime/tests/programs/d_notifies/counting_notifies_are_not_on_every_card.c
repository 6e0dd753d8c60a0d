/* A 910B has no counting notifies. */
#include "../check.h"

int main(void)
{
    aclrtCntNotify notify = NULL;
    start();
    EXPECT(aclrtCntNotifyCreate(&notify, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    TRUE(notify == NULL);
    return finish();
}
