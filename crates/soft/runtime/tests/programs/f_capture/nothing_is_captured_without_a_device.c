/* Captures need a context, as everything does. */
#include "../capture.h"

static void *without(void *data)
{
    aclmdlRICaptureMode mode = RELAXED;
    SAY(aclmdlRICaptureBegin(data, GLOBAL), ACL_ERROR_RT_CONTEXT_NULL);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), ACL_ERROR_RT_CONTEXT_NULL);
    return NULL;
}

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    in_thread(without, stream);
    EXPECT(status_of(stream), NONE);
    return finish();
}
