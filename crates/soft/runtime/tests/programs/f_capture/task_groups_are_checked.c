/* Groups belong to a capture, do not nest, hold kernels only (else the capture is lost), and are closed at its end. */
#include "../capture.h"

int main(void)
{
    aclrtTaskGrp group = NULL;
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureTaskGrpBegin(NULL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclrtValueWrite(word, 1, 0, stream), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
    TRUE(group == NULL);
    end_badly(stream, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    end_badly(stream, ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    return finish();
}
