/* A graph that is being executed is destroyed when it rests. */
#include "../capture.h"

static struct gate gate;

static void *opens(void *data)
{
    (void)data;
    sleep_ms(20);
    open_gate(&gate);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, wait_at_gate, &gate), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    aclmdlRI model = end_well(stream, 2);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    EXPECT(pthread_create(&thread, NULL, opens, NULL), 0);
    SAY(aclmdlRIDestroy(model), 0);
    EXPECT(gate.open, 1);
    EXPECT(*word, 1);
    SAY(aclmdlRIExecuteAsync(model, stream), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclmdlRIDestroy(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(pthread_join(thread, NULL), 0);
    return finish();
}
