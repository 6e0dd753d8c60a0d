/* GLOBAL and THREAD_LOCAL captures end in their thread; the attempt elsewhere ends them badly. */
#include "../capture.h"

static aclrtStream stream;

static void *ends(void *code)
{
    OK(aclrtSetDevice(0));
    end_badly(stream, *(aclError *)code);
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    aclError wrong = ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD;
    start();
    stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    in_thread(ends, &wrong);
    EXPECT(status_of(stream), NONE);
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureBegin(stream, THREAD_LOCAL), 0);
    in_thread(ends, &wrong);
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    return finish();
}
