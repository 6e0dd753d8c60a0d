/* The last ResetDevice completes the work and ends the default context with its streams. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    aclrtStreamStatus state;
    int calls = 0;
    start();
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 10; i++) {
        OK(aclrtLaunchHostFunc(i % 2 ? stream : NULL, count_call, &calls));
    }
    OK(aclrtResetDevice(0));
    EXPECT(calls, 10);
    EXPECT(aclrtStreamQuery(stream, &state), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclFinalize());
    return finish();
}
