/* After a capture, good or bad, its streams execute tasks again and events are ordinary. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, event, s2);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    SAY(aclrtLaunchHostFunc(s1, add_one, word), 0);
    wait_for(s1, event, s2);
    SAY(aclrtLaunchHostFunc(s2, add_one, word), 0);
    SAY(aclrtSynchronizeStream(s2), 0);
    EXPECT(*word, 2);
    SAY(aclrtSynchronizeEvent(event), 0);
    SAY(aclrtDestroyStream(s1), 0);
    return finish();
}
