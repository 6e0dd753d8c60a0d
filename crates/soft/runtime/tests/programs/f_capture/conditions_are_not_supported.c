/* Conditional graphs say that they are not there. */
#include "../capture.h"

int main(void)
{
    aclmdlRICondHandle handle = NULL;
    aclmdlRICondTaskParams params = {NULL, ACL_MODEL_RI_COND_TYPE_IF, 1, NULL};
    uint64_t *value;
    aclmdlRI model;
    start();
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureGetInfo(stream, NULL, &model), 0);
    SAY(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclmdlRICondHandleGetCondPtr(handle, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclmdlRIAddCondTask(params, stream, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    end_well(stream, 0);
    return finish();
}
