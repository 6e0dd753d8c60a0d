/* Uses a device, and then profiles fills, but none of the kernels beside them. */
#include <stdlib.h>

#include "kernels.h"

enum { TASKS = 50, BYTES = 4096, MEMSET = 6 };

int msptiSubscribe(void **subscriber, void *callback, void *data);
int msptiUnsubscribe(void *subscriber);
int msptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(uint8_t *, size_t, size_t));
int msptiActivityEnable(int kind);
int msptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int msptiActivityFlushAll(uint32_t flag);

static int records;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 65536;
    *buffer = malloc(*size);
    *most = 0;
}

static void complete(uint8_t *buffer, size_t size, size_t valid)
{
    void *record = NULL;

    (void)size;
    while (msptiActivityGetNextRecord(buffer, valid, &record) == 0) {
        records++;
    }
    free(buffer);
}

int main(void)
{
    aclrtStream stream;
    void *memory, *subscriber = NULL;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    aclOpExecutor *kernel = kernel_of(memory, 4);
    launch(kernel, stream);
    DO(aclrtSynchronizeStream(stream));
    printf("subscribe %d\n", msptiSubscribe(&subscriber, NULL, NULL));
    printf("callbacks %d\n", msptiActivityRegisterCallbacks(request, complete));
    printf("enable %d\n", msptiActivityEnable(MEMSET));
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(memory, BYTES, i, BYTES, stream));
        launch(kernel, stream);
    }
    DO(aclrtSynchronizeStream(stream));
    printf("flush %d\n", msptiActivityFlushAll(1));
    printf("%d records\n", records);
    printf("unsubscribe %d\n", msptiUnsubscribe(subscriber));
    return 0;
}
