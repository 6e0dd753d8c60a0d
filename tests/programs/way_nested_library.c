/* Stands for libhccl.so: one collective is two tasks and a question. */
#include "program.h"

static void run(void *unused)
{
    (void)unused;
}

int32_t HcclBarrier(void *communicator, aclrtStream stream);

int32_t HcclBarrier(void *communicator, aclrtStream stream)
{
    aclrtRunMode mode;

    (void)communicator;
    DO(aclrtGetRunMode(&mode));
    DO(aclrtLaunchHostFunc(stream, run, NULL));
    return (int32_t)aclrtLaunchHostFunc(stream, run, NULL);
}
