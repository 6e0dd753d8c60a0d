/* Callbacks of a graph run once, at its destruction. */
#include "../capture.h"

static void forget(void *data)
{
    *(int *)data += 100;
}

int main(void)
{
    int calls = 0, dropped = 0;
    start();
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI model = end_well(stream, 0);
    SAY(aclmdlRIDestroyRegisterCallback(model, count_call, &calls), 0);
    SAY(aclmdlRIDestroyRegisterCallback(model, count_call, &calls), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDestroyRegisterCallback(model, forget, &dropped), 0);
    SAY(aclmdlRIDestroyUnregisterCallback(model, forget), 0);
    SAY(aclmdlRIDestroyUnregisterCallback(model, forget), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDestroyRegisterCallback(model, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(calls, 0);
    SAY(aclmdlRIDestroy(model), 0);
    EXPECT(calls, 1);
    EXPECT(dropped, 0);
    return finish();
}
