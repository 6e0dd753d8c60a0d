/* Launches kernels whose names begin alike, and names ranges as libraries of collectives do. The first word is an object
 * with kernels; another word may say how often all of that happens. */
#include "program.h"
#include "long_names.h"

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);

#define NAME(last) TEXT_OF(LONG_NAME(last)),
#define TEXT_OF(name) TEXT(name)
#define TEXT(name) #name

int main(int count, char **words)
{
    static const char *const names[] = {KERNELS(NAME) "short_kernel"};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    aclrtFuncHandle functions[NAMES];
    aclrtBinHandle binary;
    aclrtStream stream;
    int32_t argument = 1;
    int rounds = count > 2 ? atoi(words[2]) : 2;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtBinaryLoadFromFile(count > 1 ? words[1] : "", NULL, &binary));
    for (int i = 0; i < NAMES; i++) {
        DO(aclrtBinaryGetFunction(binary, names[i], &functions[i]));
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < NAMES; i++) {
            char message[256];
            uint64_t range;

            snprintf(message, sizeof(message),
                     "{\\\"count\\\": \\\"%d\\\",\\\"dataType\\\": \\\"fp32\\\","
                     "\\\"groupName\\\": \\\"hccl_world_group_of_all_ranks\\\","
                     "\\\"opName\\\": \\\"HcclAllReduce\\\",\\\"streamId\\\": \\\"3\\\"}", 16 + i);
            range = mstxRangeStartA(message, stream);
            DO(aclrtLaunchKernelWithHostArgs(functions[i], 4, stream, NULL, &argument,
                                             sizeof(argument), NULL, 0));
            mstxRangeEnd(range);
        }
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
