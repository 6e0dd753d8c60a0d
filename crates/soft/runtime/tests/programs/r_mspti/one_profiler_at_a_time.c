/* A second subscriber is refused, and so is what needs the library to be preloaded.
   SOFTACL: mspti=preload */
#include "../mspti.h"

int main(void)
{
    void *first = NULL, *second = NULL;
    start();
    EXPECT(msptiSubscribe(NULL, NULL, NULL), 1);
    EXPECT(msptiSubscribe(&first, NULL, NULL), 0);
    EXPECT(msptiSubscribe(&second, NULL, NULL), 2);
    EXPECT(msptiUnsubscribe(second), 1);
    EXPECT(msptiActivityRegisterCallbacks(request, NULL), 1);
    EXPECT(msptiActivityRegisterCallbacks(request, complete), 0);
    EXPECT(msptiActivityEnable(KERNEL), 0);
    EXPECT(msptiActivityEnable(COMMUNICATION), 0);
    EXPECT(msptiActivityEnable(HCCL), 6);
    EXPECT(msptiActivityEnable(MEMCPY), 6);
    EXPECT(msptiActivityEnable(77), 1);
    EXPECT(msptiUnsubscribe(first), 0);
    EXPECT(msptiSubscribe(&second, NULL, NULL), 0);
    return finish();
}
