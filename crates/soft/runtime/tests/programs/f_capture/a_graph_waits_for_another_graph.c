/* External record in one graph, external wait in the other. */
#include "../capture.h"

int main(void)
{
    static struct gate gate;
    start();
    aclrtStream first = new_stream(), second = new_stream();
    aclrtEvent event = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(first, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(first, wait_at_gate, &gate), 0);
    SAY(aclrtLaunchHostFunc(first, add_one, a), 0);
    SAY(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL), 0);
    aclmdlRI records = end_well(first, 3);
    SAY(aclmdlRICaptureBegin(second, GLOBAL), 0);
    SAY(aclrtStreamWaitEventWithFlag(second, event, 0, ACL_EVENT_WAIT_EXTERNAL), 0);
    copy_word(b, a, second);
    aclmdlRI waits = end_well(second, 2);
    for (int i = 1; i <= 5; i++) {
        SAY(aclmdlRIExecuteAsync(records, first), 0);
        SAY(aclmdlRIExecuteAsync(waits, second), 0);
        open_gate(&gate);
        OK(aclrtSynchronizeStream(second));
        EXPECT(*b, i);
    }
    OK(aclrtSynchronizeStream(first));
    return finish();
}
