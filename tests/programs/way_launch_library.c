/* Stands for libruntime.so: a launch is one host function of the runtime. */
#include "program.h"

static void run(void *unused)
{
    (void)unused;
}

int32_t rtFunctionRegister(void *binary, const void *stub, const char *name, const void *info,
                           uint32_t mode);
int32_t rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t size, void *memory,
                       aclrtStream stream);
int32_t rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, void *args, void *memory,
                                 aclrtStream stream, uint32_t flags, const void *config);
int32_t rtFusionLaunch(void *fusion, aclrtStream stream, void *args);

int32_t rtFunctionRegister(void *binary, const void *stub, const char *name, const void *info,
                           uint32_t mode)
{
    (void)binary, (void)stub, (void)name, (void)info, (void)mode;
    return 0;
}

int32_t rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t size, void *memory,
                       aclrtStream stream)
{
    (void)blocks, (void)args, (void)size, (void)memory;
    return stub == NULL ? 107000 : (int32_t)aclrtLaunchHostFunc(stream, run, NULL);
}

int32_t rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, void *args, void *memory,
                                 aclrtStream stream, uint32_t flags, const void *config)
{
    (void)flags, (void)config;
    return rtKernelLaunch(stub, blocks, args, 0, memory, stream);
}

/* What the software runtime lacks. */
int32_t rtFusionLaunch(void *fusion, aclrtStream stream, void *args)
{
    (void)args;
    return fusion == NULL ? 107000 : (int32_t)aclrtLaunchHostFunc(stream, run, NULL);
}
