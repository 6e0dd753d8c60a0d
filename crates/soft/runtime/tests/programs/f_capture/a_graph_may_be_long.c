/* SOFTACL: queue=16 */
#include "../capture.h"

/* The depth of a queue limits tasks that wait, not the nodes of a graph. */
int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    for (uint64_t i = 0; i < 3000; i++) {
        OK(aclrtValueWrite(word, i, 0, s1));
        OK(aclrtRecordEvent(event, s1));
        OK(aclrtStreamWaitEvent(s2, event));
        OK(aclrtValueWait(word, i, 1, s2));
        OK(aclrtRecordEvent(event, s2));
        OK(aclrtStreamWaitEvent(s1, event));
    }
    aclmdlRI model = NULL;
    SAY(aclmdlRICaptureEnd(s1, &model), 0);
    for (int i = 0; i < 40; i++) {
        OK(aclmdlRIExecuteAsync(model, i % 2 ? s1 : s2));
        OK(aclrtSynchronizeDevice());
        EXPECT(*word, 2999);
        *word = 0;
    }
    return finish();
}
