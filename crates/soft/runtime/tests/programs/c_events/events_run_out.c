/* Ids are limited: held ones are refused, recorded ones come back with the event.
   SOFTACL: events=4 */
#include "../check.h"

int main(void)
{
    aclrtEvent held[5], plain, timeline;
    uint32_t left = 99;
    start();
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 4);
    for (int i = 0; i < 4; i++) {
        OK(aclrtCreateEventWithFlag(&held[i], ACL_EVENT_SYNC));
    }
    EXPECT(aclrtCreateEventWithFlag(&held[4], ACL_EVENT_SYNC), ACL_ERROR_RT_NO_EVENT_RESOURCE);
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 0);
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtRecordEvent(plain, NULL), ACL_ERROR_RT_NO_EVENT_RESOURCE);
    OK(aclrtCreateEventExWithFlag(&timeline, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(timeline, NULL));
    OK(aclrtDestroyEvent(held[1]));
    OK(aclrtRecordEvent(plain, NULL));
    OK(aclrtRecordEvent(plain, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 0);
    OK(aclrtDestroyEvent(plain));
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 1);
    return finish();
}
