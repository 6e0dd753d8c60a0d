/* A THREAD_LOCAL capture binds the thread that began it, and no other. */
#include "../capture.h"

static uint64_t *a, *b;

static void *from_another_thread(void *data)
{
    (void)data;
    OK(aclrtSetDevice(0));
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    a = new_word(0), b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, THREAD_LOCAL), 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMemset(a, 8, 1, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    in_thread(from_another_thread, NULL);
    EXPECT(*a, 1);
    end_well(stream, 0);
    return finish();
}
