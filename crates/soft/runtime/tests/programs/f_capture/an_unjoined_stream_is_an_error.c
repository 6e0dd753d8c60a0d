/* A stream that joined and did not come back. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    set_word(word, 1, s2);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    return finish();
}
