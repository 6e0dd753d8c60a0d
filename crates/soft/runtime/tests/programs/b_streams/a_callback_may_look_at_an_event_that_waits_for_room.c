/* While a record waits for room in a full queue, a callback of that queue may query the event.
   SOFTACL: queue=2 */
#include "../check.h"

static aclrtEvent event;
static int answer = -1;

static void look(void *unused)
{
    aclrtEventRecordedStatus status;
    (void)unused;
    sleep_ms(50);
    answer = aclrtQueryEventStatus(event, &status);
}

int main(void)
{
    aclrtStream stream;
    start();
    OK(aclrtCreateStream(&stream));
    EXPECT(aclrtRecordEvent(NULL, stream), ACL_ERROR_INVALID_PARAM);
    OK(aclrtCreateEvent(&event));
    OK(aclrtLaunchHostFunc(stream, look, NULL));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(answer, 0);
    return finish();
}
