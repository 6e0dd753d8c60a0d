/* What the compiler makes of `kernel<<<blocks, nullptr, stream>>>()`: launches below the interface. */
#include "program.h"

int32_t rtFunctionRegister(void *binary, const void *stub, const char *name, const void *info,
                           uint32_t mode);
int32_t rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t size, void *memory,
                       aclrtStream stream);
int32_t rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, void *args, void *memory,
                                 aclrtStream stream, uint32_t flags, const void *config);

static const char first_stub, second_stub;

int main(void)
{
    aclrtStream stream;
    int32_t words[2] = { 1, 2 };

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(rtFunctionRegister(NULL, &first_stub, "add_custom_0", NULL, 0));
    DO(rtFunctionRegister(NULL, &second_stub, "mul_custom_1", NULL, 0));
    DO(rtKernelLaunch(&first_stub, 8, words, sizeof(words), NULL, stream));
    DO(rtKernelLaunch(&second_stub, 16, words, sizeof(words), NULL, stream));
    DO(rtKernelLaunchWithFlagV2(&first_stub, 24, words, NULL, stream, 3, NULL));
    DO(aclrtSynchronizeStream(stream));
    printf("refused: %d\n", rtKernelLaunch(NULL, 1, words, sizeof(words), NULL, stream));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
