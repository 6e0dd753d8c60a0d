/* A shared object of the host serves as a binary: its functions run once per block. */
#include "../check.h"

static const char source[] =
    "#include <stdint.h>\n"
    "const uint64_t add_softacl_ns = 7000;\n"
    "struct args { float *out; const float *in; uint64_t count; };\n"
    "void add(uint32_t block, uint32_t blocks, const struct args *args)\n"
    "{\n"
    "    for (uint64_t i = block; i < args->count; i += blocks) args->out[i] += args->in[i];\n"
    "}\n"
    "void sum(uint32_t block, uint32_t blocks, const struct { uint64_t *out, *list; } *args)\n"
    "{\n"
    "    if (block == 0) *args->out = args->list[0] + args->list[1] + blocks;\n"
    "}\n";

struct args {
    float *out;
    const float *in;
    uint64_t count;
};

int main(void)
{
    enum { N = 100 };
    char dir[] = "/tmp/softacl-kernel-XXXXXX", command[200], path[100];
    aclrtBinHandle binary;
    aclrtFuncHandle add, sum, none;
    aclrtArgsHandle handle;
    aclrtParamHandle param;
    aclrtStream stream;
    aclrtEvent events[2];
    float *host, ms = 0;
    char name[16] = "";
    struct args args;
    start();
    TRUE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/k.so", dir);
    EXPECT(aclrtBinaryLoadFromFile(path, NULL, &binary), ACL_ERROR_RT_FILE_OPEN);
    snprintf(command, sizeof command, "cc -shared -fPIC -x c -o %s -", path);
    FILE *cc = popen(command, "w");
    TRUE(cc && fputs(source, cc) >= 0);
    EXPECT(cc ? pclose(cc) : -1, 0);
    OK(aclrtBinaryLoadFromFile(path, NULL, &binary));
    remove(path);
    remove(dir);
    OK(aclrtBinaryGetFunction(binary, "add", &add));
    OK(aclrtBinaryGetFunction(binary, "sum", &sum));
    EXPECT(aclrtBinaryGetFunction(binary, "none", &none), ACL_ERROR_RT_KERNEL_LOOKUP);
    OK(aclrtGetFunctionName(add, sizeof name, name));
    EXPECT(strcmp(name, "add"), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&host, N * 4));
    OK(aclrtMalloc((void **)&args.out, N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(args.out, N * 4, 0, N * 4));
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    args.in = host;
    args.count = N;
    for (int i = 0; i < 2; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
    }
    struct gate gate = {0, 0};
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtRecordEvent(events[0], stream));
    OK(aclrtLaunchKernelWithHostArgs(add, 3, stream, NULL, &args, sizeof args, NULL, 0));
    OK(aclrtRecordEvent(events[1], stream));
    OK(aclrtKernelArgsInit(add, &handle));
    OK(aclrtKernelArgsAppend(handle, &args.out, 8, &param));
    OK(aclrtKernelArgsAppend(handle, &args.in, 8, &param));
    OK(aclrtKernelArgsAppend(handle, &args.count, 8, &param));
    EXPECT(aclrtLaunchKernelWithConfig(add, 2, stream, NULL, handle, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtKernelArgsFinalize(handle));
    OK(aclrtLaunchKernelWithConfig(add, 2, stream, NULL, handle, NULL));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(host, N * 4, args.out, N * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(host[1] == 2 && host[N - 1] == 2 * (N - 1));
    OK(aclrtEventElapsedTime(&ms, events[0], events[1]));
    TRUE(ms > 0.00895f && ms < 0.00905f);
    uint64_t *out, words[4] = {0, 0, 20, 22}, value = 0;
    aclrtPlaceHolderInfo holder = {8, 16};
    OK(aclrtMalloc((void **)&out, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    words[0] = (uint64_t)(uintptr_t)out;
    OK(aclrtLaunchKernelWithHostArgs(sum, 1, stream, NULL, words, sizeof words, &holder, 1));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(&value, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(value, 43);
    EXPECT(aclrtLaunchKernelWithHostArgs(sum, 0, stream, NULL, words, sizeof words, NULL, 0),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtKernelArgsFinalize(&args), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtBinaryUnLoad(binary));
    EXPECT(aclrtKernelArgsFinalize(handle), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtLaunchKernelWithHostArgs(add, 1, stream, NULL, &args, sizeof args, NULL, 0),
           ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
