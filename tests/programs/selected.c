/* Work of two threads on two devices and three streams: 40 fills and event records on one stream, waits for them and copies on
 * another one of the same device, 30 fills by the thread "feeder" on the other device. Prints the numbers of the streams.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

enum { BYTES = 4096, ROUNDS = 40, FEEDS = 30 };

static int number_of(aclrtStream stream)
{
    int32_t number;
    DO(aclrtStreamGetId(stream, &number));
    return number;
}

static void *feed(void *unused)
{
    (void)unused;
    const char *name = getenv("FEEDER");

    pthread_setname_np(pthread_self(), name ? name : "feeder");
    fill_on_new_stream(1, FEEDS);
    return NULL;
}

int main(void)
{
    aclrtStream first, second;
    aclrtEvent event;
    void *filled, *copied;
    unsigned char *host;
    pthread_t feeder;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&first));
    DO(aclrtCreateStream(&second));
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc(&filled, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&copied, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost((void **)&host, BYTES));
    require(pthread_create(&feeder, NULL, feed, NULL) == 0, "a thread");
    for (int i = 0; i < ROUNDS; i++) {
        aclrtStreamStatus status;
        DO(aclrtMemsetAsync(filled, BYTES, i, BYTES, first));
        DO(aclrtRecordEvent(event, first));
        DO(aclrtStreamWaitEvent(second, event));
        DO(aclrtMemcpyAsync(copied, BYTES, filled, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
        DO(aclrtMemcpyAsync(host, BYTES, copied, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, second));
        DO(aclrtStreamQuery(second, &status));
        DO(aclrtSynchronizeStream(second));
        require(host[0] == i && host[BYTES - 1] == i, "the filled bytes");
    }
    pthread_join(feeder, NULL);
    printf("%d %d\n", number_of(first), number_of(second));
    DO(aclrtDestroyEvent(event));
    DO(aclrtFreeHost(host));
    DO(aclrtFree(filled));
    DO(aclrtFree(copied));
    DO(aclrtDestroyStream(first));
    DO(aclrtDestroyStream(second));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
