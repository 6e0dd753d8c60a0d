/* While a GLOBAL capture runs, no thread of the context may copy or fill synchronously. */
#include "../capture.h"

static uint64_t *a, *b;

static void *from_another_thread(void *data)
{
    (void)data;
    OK(aclrtSetDevice(0));
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    void *memory;
    start();
    aclrtStream stream = new_stream();
    a = new_word(0), b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMemset(a, 8, 1, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMemcpy2d(a, 8, b, 8, 8, 1, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    in_thread(from_another_thread, NULL);
    SAY(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    SAY(aclrtFree(memory), 0);
    EXPECT(*a, 0);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    EXPECT(*a, 1);
    return finish();
}
