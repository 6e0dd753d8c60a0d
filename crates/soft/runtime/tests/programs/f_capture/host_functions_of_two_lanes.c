/* Host functions and notifies in both lanes of a graph; the join waits for all. */
#include "../capture.h"

int main(void)
{
    aclrtNotify notify;
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    OK(aclrtCreateNotify(&notify, 0));
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    for (int i = 0; i < 3; i++) {
        SAY(aclrtLaunchHostFunc(s1, add_one, a), 0);
        SAY(aclrtLaunchHostFunc(s2, add_one, b), 0);
    }
    SAY(aclrtWaitAndResetNotify(notify, s2, 0), 0);
    copy_word(b, a, s2);
    SAY(aclrtRecordNotify(notify, s1), 0);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 13);
    for (int i = 1; i <= 4; i++) {
        run(model, s1);
        EXPECT(*a, 3 * i);
        EXPECT(*b, 3 * i);
    }
    return finish();
}
