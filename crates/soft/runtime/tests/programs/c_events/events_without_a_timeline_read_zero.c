/* A completed event without TIME_LINE has the time zero and no error. */
#include "../check.h"

int main(void)
{
    aclrtEvent plain, timed;
    uint64_t stamp = 5;
    float ms = 5;
    start();
    OK(aclrtCreateEventExWithFlag(&plain, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(plain, NULL));
    OK(aclrtRecordEvent(timed, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtEventGetTimestamp(plain, &stamp));
    EXPECT(stamp, 0);
    OK(aclrtEventElapsedTime(&ms, plain, plain));
    TRUE(ms == 0);
    OK(aclrtEventGetTimestamp(timed, &stamp));
    TRUE(stamp != 0);
    EXPECT(aclrtEventElapsedTime(NULL, plain, timed), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtEventElapsedTime(&ms, NULL, timed), ACL_ERROR_INVALID_PARAM);
    return finish();
}
