/* End needs a begin, a stream and room for the result. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    aclmdlRI model;
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureEnd(NULL, &model), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureEnd(stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 0);
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    return finish();
}
