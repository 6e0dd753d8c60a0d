/* Work goes only to streams of the current context; waiting works from any. */
#include "../check.h"

int main(void)
{
    aclrtContext first, second;
    aclrtStream stream;
    aclrtEvent event;
    int calls = 0;
    void *memory;
    start();
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateContext(&second, 0));
    EXPECT(aclrtRecordEvent(event, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtResetEvent(event, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtLaunchHostFunc(stream, count_call, &calls), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtDestroyStream(stream));
    return finish();
}
