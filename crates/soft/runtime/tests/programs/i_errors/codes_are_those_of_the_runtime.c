/* Codes that no other program here asks for, as the open runtime gives them. */
#include "../check.h"

static void exceptions(aclrtExceptionInfo *info)
{
    (void)info;
}

int main(void)
{
    aclrtStream stream, blocked;
    aclrtEvent device_only;
    uint32_t task = 99;
    char from[8] = "abcdefg", to[8] = "";
    uint64_t *memory;
    int calls = 0;
    start();
    OK(aclrtGetThreadLastTaskId(&task));
    EXPECT(task, 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(to, 8, from, 0, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT(to[0], 0);
    OK(aclrtMemcpy(memory, 64, from, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemsetAsync(memory, 64, 1, 0, stream));
    EXPECT(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchHostFunc(stream, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchCallback(count_call, &calls, (aclrtCallbackBlockType)2, stream), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtCreateEventWithFlag(&device_only, ACL_EVENT_DEVICE_USE_ONLY));
    OK(aclrtSynchronizeEvent(device_only));
    OK(aclrtMemset(memory, 64, 0, 64));
    OK(aclrtValueWrite((char *)memory + 4, 0x1122334455667788, 0, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(memory[0], 0x5566778800000000);
    EXPECT(memory[1], 0x11223344);
    OK(aclrtValueWait((char *)memory + 4, 0x1122334455667788, ACL_STREAM_WAIT_VALUE_EQ, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtCreateStream(&blocked));
    EXPECT(aclrtSetStreamOverflowSwitch(blocked, 2), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtExceptionInfoCallbackUnregister(exceptions));
    EXPECT(calls, 1);
    return finish();
}
