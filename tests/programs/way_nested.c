/* A second library's call makes several of the first's. */
#include "program.h"

int32_t HcclBarrier(void *communicator, aclrtStream stream);

int main(void)
{
    aclrtStream stream;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    for (int i = 0; i < 5; i++) {
        DO(HcclBarrier(NULL, stream));
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
