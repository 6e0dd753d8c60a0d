/* Every fifth record is lost, every third has no times.
   SOFTACL: mspti_drop=5,mspti_zero=3,chip=950 */
#include "../mspti.h"

int main(void)
{
    aclrtStream stream;
    void *device;
    int zero = 0;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    aclOpExecutor *kernel = kernel_of(device, 4);
    profile(KERNEL);
    for (int i = 0; i < 150; i++)
        OK(aclnnRelu(NULL, 0, kernel, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(msptiActivityFlushAll(1), 0);
    EXPECT(count, 120);
    for (int i = 0; i < count; i++)
        zero += all[i].start == 0 && all[i].end == 0;
    EXPECT(zero, 40);
    return finish();
}
