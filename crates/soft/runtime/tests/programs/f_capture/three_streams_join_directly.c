/* Two streams leave the origin and come back to it, each by an event of its own. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent fork = new_event(), back2 = new_event(), back3 = new_event();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    set_word(a, 3, s1);
    SAY(aclrtRecordEvent(fork, s1), 0);
    SAY(aclrtStreamWaitEvent(s2, fork), 0);
    SAY(aclrtStreamWaitEvent(s3, fork), 0);
    copy_word(b, a, s2);
    copy_word(c, a, s3);
    wait_for(s3, back3, s1);
    wait_for(s2, back2, s1);
    aclmdlRI model = end_well(s1, 10);
    run(model, s1);
    EXPECT(*b + *c, 6);
    return finish();
}
