/* Functions that a PyTorch extension binds when it is loaded, of libraries below AscendCL. */
#include "../check.h"

typedef int rt;
struct binary { uint32_t magic, version; const void *code; uint64_t length; };
rt rtDevBinaryRegister(const struct binary *binary, void **handle);
rt rtDevBinaryUnRegister(void *handle);
rt rtFunctionRegister(void *binary, const void *stub, const char *name, const void *info, uint32_t mode);
rt rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t size, void *sm, void *stream);
uint64_t MsprofGetHashId(const char *text, size_t length);
int32_t MsprofRegisterCallback(uint32_t module, void *handler);
int32_t MsprofReportApi(uint32_t ages, const void *report);
int32_t MsprofReportCompactInfo(uint32_t ages, void *report, uint32_t size);
int32_t MsprofReportAdditionalInfo(uint32_t ages, void *report, uint32_t size);
uint64_t MsprofSysCycleTime(void);
int32_t HcclSetConfig(int32_t config, int64_t value);
extern aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value);

static void system_parameters(void)
{
    aclrtContext first, context;
    int64_t value = 9;
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 0);
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 1);
    value = 9;
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 1);
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 1);
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateContext(&context, 0));
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    OK(aclrtDestroyContext(context));
    OK(aclrtSetCurrentContext(first));
}

int main(void)
{
    static const char stub, code[8];
    struct binary binary = {0, 0, code, sizeof code};
    void *handle = NULL;
    uint64_t before;
    start();
    system_parameters();

    EXPECT(rtDevBinaryRegister(NULL, &handle), ACL_ERROR_RT_PARAM_INVALID);
    OK(rtDevBinaryRegister(&binary, &handle));
    OK(rtFunctionRegister(handle, &stub, "kernel_of_a_card", "kernel_of_a_card", 0));
    EXPECT(rtFunctionRegister(handle, NULL, "kernel_of_a_card", NULL, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(rtKernelLaunch(&stub, 1, NULL, 0, NULL, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(rtDevBinaryUnRegister(handle));
    EXPECT(rtDevBinaryUnRegister(handle), ACL_ERROR_RT_INVALID_HANDLE);

    TRUE(MsprofGetHashId("abc", 3) == MsprofGetHashId("abcd", 3));
    TRUE(MsprofGetHashId("abc", 3) != MsprofGetHashId("abd", 3));
    OK(MsprofRegisterCallback(1, NULL));
    OK(MsprofReportApi(0, code));
    OK(MsprofReportCompactInfo(0, NULL, 0));
    OK(MsprofReportAdditionalInfo(0, NULL, 0));
    before = MsprofSysCycleTime();
    TRUE(MsprofSysCycleTime() >= before && before > 0);
    OK(HcclSetConfig(0, 1));
    return finish();
}
