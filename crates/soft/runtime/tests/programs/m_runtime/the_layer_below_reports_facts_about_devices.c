/* Facts and limits of devices by the layer below are those of acl. */
#include "../check.h"
#include <unistd.h>

typedef int rt;
rt rtGetSocVersion(char *name, uint32_t room);
rt rtGetAiCoreCount(uint32_t *count);
rt rtGetC2cCtrlAddr(uint64_t *address, uint32_t *length);
rt rtDeviceSetLimit(int32_t id, uint32_t limit, uint32_t value);
rt rtDeviceGetBareTgid(uint32_t *pid);
rt rtCtxGetOverflowAddr(void **address);
rt rtGetLogicDevIdByUserDevId(int32_t user, int32_t *logic);

enum { LOW_POWER_TIMEOUT, SIMT_STACK, SIMT_DVG_STACK, SIMD_STACK, SIMD_PRINTF, SIMT_PRINTF, NO_LIMIT };

static void names(void)
{
    char name[64] = "";
    OK(rtGetSocVersion(name, sizeof name));
    EXPECT(strcmp(name, aclrtGetSocName()), 0);
    OK(rtGetSocVersion(name, strlen(name) + 1));
    EXPECT(rtGetSocVersion(name, strlen(name)), 507000);
    EXPECT(rtGetSocVersion(name, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtGetSocVersion(NULL, 64), ACL_ERROR_RT_PARAM_INVALID);
}

static void cores(void)
{
    uint32_t count = 0, length = 0;
    uint64_t address = 0;
    int64_t known = 0;
    void *same = NULL;
    OK(rtGetAiCoreCount(&count));
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &known));
    EXPECT(count, known);
    EXPECT(rtGetAiCoreCount(NULL), ACL_ERROR_RT_PARAM_INVALID);

    OK(rtGetC2cCtrlAddr(&address, &length));
    OK(aclrtGetHardwareSyncAddr(&same));
    TRUE(address == (uint64_t)same);
    OK(aclrtMemset(same, length, 7, length));
    EXPECT(rtGetC2cCtrlAddr(NULL, &length), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtGetC2cCtrlAddr(&address, NULL), ACL_ERROR_RT_PARAM_INVALID);
}

static void limits(void)
{
    size_t value = 0;
    OK(rtDeviceSetLimit(0, SIMD_STACK, 65536));
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &value));
    EXPECT(value, 65536);
    OK(rtDeviceSetLimit(0, LOW_POWER_TIMEOUT, 9));
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, &value));
    TRUE(value != 9);
    OK(rtDeviceSetLimit(0, SIMT_PRINTF, 1 << 20));
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, &value));
    EXPECT(value, 1 << 20);
    EXPECT(rtDeviceSetLimit(0, NO_LIMIT, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtDeviceSetLimit(9, SIMD_STACK, 1), ACL_ERROR_RT_INVALID_DEVICEID);
}

int main(void)
{
    uint32_t pid = 0;
    int32_t logic = -1;
    void *overflow, *same;
    EXPECT(rtGetC2cCtrlAddr((uint64_t[1]){0}, &pid), ACL_ERROR_RT_CONTEXT_NULL);
    names();
    start();
    names();
    cores();
    limits();
    OK(rtDeviceGetBareTgid(&pid));
    EXPECT(pid, getpid());
    OK(rtGetLogicDevIdByUserDevId(0, &logic));
    EXPECT(logic, 0);
    OK(rtCtxGetOverflowAddr(&overflow));
    OK(aclrtCtxGetFloatOverflowAddr(&same));
    TRUE(overflow == same);
    return finish();
}
