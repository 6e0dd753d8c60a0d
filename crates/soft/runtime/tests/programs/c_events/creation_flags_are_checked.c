/* Each way to create an event has its flags. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    start();
    OK(aclrtCreateEvent(&event));
    EXPECT(aclrtCreateEvent(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    EXPECT(aclrtCreateEventWithFlag(&event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventWithFlag(&event, 0x80), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | 0x4));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    EXPECT(aclrtCreateEventExWithFlag(&event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_SYNC),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(NULL, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
    return finish();
}
