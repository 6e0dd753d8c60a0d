/* A capture begins on an explicit stream of the current context that can be captured. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), scheduled, own, foreign;
    aclrtContext before, context;
    OK(aclrtCreateStreamWithConfig(&scheduled, 0, ACL_STREAM_DEVICE_USE_ONLY));
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    SAY(aclmdlRICaptureBegin(NULL, GLOBAL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)3), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRICaptureBegin(scheduled, GLOBAL), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclmdlRICaptureBegin(own, GLOBAL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtGetCurrentContext(&before));
    OK(aclrtCreateContext(&context, 0));
    foreign = stream;
    SAY(aclmdlRICaptureBegin(foreign, GLOBAL), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSetCurrentContext(before));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), ACL_ERROR_RT_STREAM_CAPTURED);
    end_well(stream, 0);
    return finish();
}
