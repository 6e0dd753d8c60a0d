/* 310P and 910A have no log of the hardware's.
   SOFTACL: chip=310p */
#include "../mspti.h"

int main(void)
{
    void *subscriber = NULL;
    start();
    EXPECT(msptiSubscribe(&subscriber, NULL, NULL), 0);
    EXPECT(msptiActivityRegisterCallbacks(request, complete), 0);
    EXPECT(msptiActivityEnable(KERNEL), 4);
    TRUE(!msptiActivityIsEnabled(KERNEL));
    return finish();
}
