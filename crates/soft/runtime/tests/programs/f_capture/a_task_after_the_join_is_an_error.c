/* Seed 001's task5: what follows the joining record on a side stream belongs to nobody. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    wait_for(s2, join, s1);
    set_word(word, 1, s2);
    EXPECT(status_of(s1), ACTIVE);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    EXPECT(status_of(s1), NONE);
    EXPECT(status_of(s2), NONE);
    OK(aclrtSynchronizeStream(s2));
    EXPECT(*word, 0);
    return finish();
}
