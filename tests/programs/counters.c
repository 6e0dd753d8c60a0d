/* Prints whatever the runtime tells of what is left, and the numbers that it gives to things, while
 * tasks wait in a stream, and before and after. */
#include "program.h"

enum { BYTES = 4096, TASKS = 100, EVENTS = 8 };

static void print_what_is_left(const char *when)
{
    uint32_t events = 0, streams = 0;
    size_t free_bytes = 0, total_bytes = 0;

    DO(aclrtGetEventAvailNum(&events));
    DO(aclrtGetStreamAvailableNum(&streams));
    DO(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes));
    printf("%s: %u events, %u streams, %zu of %zu bytes\n", when, events, streams, free_bytes,
           total_bytes);
}

int main(void)
{
    aclrtStream streams[2];
    aclrtEvent events[EVENTS], gate;
    char *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    print_what_is_left("at first");
    for (int i = 0; i < 2; i++) {
        int32_t id = -1;

        DO(aclrtCreateStream(&streams[i]));
        DO(aclrtStreamGetId(streams[i], &id));
        printf("stream %d\n", id);
    }
    DO(aclrtMalloc((void **)&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC));
    DO(aclrtStreamWaitEvent(streams[0], gate));
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, streams[0]));
    }
    for (int i = 0; i < EVENTS; i++) {
        uint32_t id = 0;

        DO(i % 2 ? aclrtCreateEvent(&events[i])
                 : aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
        DO(aclrtRecordEvent(events[i], streams[i % 2]));
        DO(aclrtGetEventId(events[i], &id));
        printf("event %u\n", id);
    }
    print_what_is_left("with tasks that wait");
    DO(aclrtRecordEvent(gate, streams[1]));
    DO(aclrtSynchronizeDevice());
    print_what_is_left("with all done");
    for (int i = 0; i < EVENTS; i++) {
        DO(aclrtDestroyEvent(events[i]));
    }
    DO(aclrtDestroyStream(streams[0]));
    print_what_is_left("with some gone");
    return 0;
}
