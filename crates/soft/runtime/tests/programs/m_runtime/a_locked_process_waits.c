/* While a process is locked for a snapshot, calls that change something on its devices wait, and questions do not. */
#include "../check.h"
#include <pthread.h>
#include <unistd.h>

static int over;

static void *allocate(void *data)
{
    void *memory;
    (void)data;
    OK(aclrtSetDevice(1));
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    aclrtEvent event;
    aclrtStream stream;
    aclrtEventRecordedStatus status;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSnapShotProcessLock(getpid(), NULL));
    EXPECT(pthread_create(&thread, NULL, allocate, NULL), 0);
    sleep_ms(50);
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(__atomic_load_n(&over, __ATOMIC_SEQ_CST), 0);
    OK(aclrtSnapShotProcessUnlock(getpid(), NULL));
    EXPECT(pthread_join(thread, NULL), 0);
    EXPECT(over, 1);
    return finish();
}
