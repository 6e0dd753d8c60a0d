/* Gives a stream more than a third of what its queue holds, all of it behind an event that the same
 * thread records only then. Nobody else is to take so much of the queue that this cannot go on. */
#include "program.h"

enum { BYTES = 4096, TASKS = 1000, ROUNDS = 3 };

int main(void)
{
    aclrtStream waiting, other;
    aclrtEvent event;
    char *buffer;
    unsigned char last = 0;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&waiting));
    DO(aclrtCreateStream(&other));
    DO(aclrtMalloc((void **)&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 1; round <= ROUNDS; round++) {
        DO(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
        DO(aclrtStreamWaitEvent(waiting, event));
        for (int i = 0; i < TASKS; i++) {
            DO(aclrtMemsetAsync(buffer, BYTES, round + i, BYTES, waiting));
        }
        DO(aclrtRecordEvent(event, other));
        DO(aclrtSynchronizeStream(waiting));
        DO(aclrtMemcpy(&last, 1, buffer, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        printf("round %d: the last wrote %d\n", round, last);
        DO(aclrtSynchronizeStream(other));
        DO(aclrtDestroyEvent(event));
    }
    return 0;
}
