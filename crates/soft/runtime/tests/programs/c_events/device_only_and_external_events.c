/* Events for the device only are refused on the host; external ones cannot be looked at. */
#include "../check.h"

int main(void)
{
    aclrtEvent device, external;
    aclrtEventRecordedStatus status;
    uint64_t stamp;
    float ms;
    start();
    OK(aclrtCreateEventWithFlag(&device, ACL_EVENT_DEVICE_USE_ONLY));
    EXPECT(aclrtRecordEvent(device, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtStreamWaitEvent(NULL, device), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtResetEvent(device, NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtSynchronizeEvent(device));
    OK(aclrtCreateEventWithFlag(&external, ACL_EVENT_EXTERNAL));
    OK(aclrtRecordEvent(external, NULL));
    EXPECT(aclrtQueryEventStatus(external, &status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtSynchronizeEvent(external), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtEventGetTimestamp(external, &stamp), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtEventElapsedTime(&ms, external, external), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtResetEvent(external, NULL));
    OK(aclrtSynchronizeStream(NULL));
    return finish();
}
