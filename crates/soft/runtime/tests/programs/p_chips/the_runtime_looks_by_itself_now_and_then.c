/* Every so many tasks of a stream the runtime looks by itself, if asked to.
   SOFTACL: recycle_every=64 */
#include "../check.h"

static void until_idle(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    for (int i = 0; i < 5000 && status != ACL_STREAM_STATUS_COMPLETE; i++) {
        OK(aclrtStreamQuery(stream, &status));
        sleep_ms(1);
    }
}

int main(void)
{
    aclrtStream stream;
    aclrtEvent event, later;
    void *memory;
    uint64_t stamp;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&later, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(event, stream));
    until_idle(stream);
    for (int i = 1; i < 63; i++) {
        OK(aclrtMemsetAsync(memory, 64, i, 64, stream));
    }
    until_idle(stream);
    EXPECT(aclrtEventGetTimestamp(event, &stamp), 107006);
    /* The 64th task. */
    OK(aclrtRecordEvent(later, stream));
    aclError said = 107006;
    for (int i = 0; i < 5000 && said == 107006; i++) {
        said = aclrtEventGetTimestamp(event, &stamp);
        sleep_ms(1);
    }
    EXPECT(said, 0);
    return finish();
}
