/* No stream is capturing; the default stream cannot be asked by NULL. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    aclmdlRI model = &stream;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    EXPECT(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    TRUE(model == NULL);
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    EXPECT(aclmdlRICaptureGetInfo(NULL, &status, &model), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlRICaptureGetInfo(stream, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    return finish();
}
