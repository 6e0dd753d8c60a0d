/* timeline [hold]: submits tasks to two streams on two devices and prints when; ends without
 * aclFinalize, or waits to be killed. */
#include "../check.h"

enum { SIZE = 48000 };

static int id_of(aclrtStream stream)
{
    int32_t id = -1;
    OK(aclrtStreamGetId(stream, &id));
    return id;
}

#define SUBMIT(device, stream, kind, call)                                                  \
    do {                                                                                    \
        uint64_t before_ = host_ns();                                                       \
        OK(call);                                                                           \
        printf("task %d %d %s %llu %llu\n", device, id_of(stream), kind,                    \
               (unsigned long long)before_, (unsigned long long)host_ns());                 \
    } while (0)

static void work(int device)
{
    aclrtStream first, second;
    aclrtEvent event, timed;
    aclrtNotify notify;
    void *host, *memory;
    int calls = 0;
    OK(aclrtSetDevice(device));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, SIZE, 0, SIZE));
    for (int i = 0; i < 20; i++) {
        SUBMIT(device, first, "memcpy",
               aclrtMemcpyAsync(memory, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, first));
        SUBMIT(device, first, "record", aclrtRecordEvent(event, first));
        SUBMIT(device, second, "wait", aclrtStreamWaitEvent(second, event));
        SUBMIT(device, second, "memset", aclrtMemsetAsync(memory, SIZE, i, SIZE, second));
        SUBMIT(device, second, "notify", aclrtRecordNotify(notify, second));
        SUBMIT(device, first, "notify", aclrtWaitAndResetNotify(notify, first, 0));
        SUBMIT(device, first, "hostfunc", aclrtLaunchHostFunc(first, count_call, &calls));
        SUBMIT(device, first, "value", aclrtValueWrite(memory, (uint64_t)i, 0, first));
        SUBMIT(device, NULL, "record", aclrtRecordEvent(timed, NULL));
        if (i % 5 == 0) {
            OK(aclrtSynchronizeDevice());
        }
    }
    OK(aclrtSynchronizeDevice());
    EXPECT(calls, 20);
    uint64_t stamp = 0;
    OK(aclrtEventGetTimestamp(timed, &stamp));
    printf("stamp %d %d %llu\n", device, id_of(NULL), (unsigned long long)stamp);
}

int main(int argc, char **argv)
{
    (void)argv;
    OK(aclInit(NULL));
    work(0);
    work(1);
    printf("done\n");
    fflush(stdout);
    while (argc > 1) {
        sleep_ms(1000);
    }
    return finish();
}
