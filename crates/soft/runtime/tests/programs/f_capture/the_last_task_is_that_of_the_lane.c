/* The last task of a thread is told in captures too: its number in the lane. */
#include "../capture.h"

int main(void)
{
    uint32_t task = 99;
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    set_word(word, 1, s1);
    set_word(word, 1, s1);
    SAY(aclrtGetThreadLastTaskId(&task), 0);
    EXPECT(task, 1);
    wait_for(s1, fork, s2);
    SAY(aclrtGetThreadLastTaskId(&task), 0);
    EXPECT(task, 0);
    set_word(word, 1, s2);
    SAY(aclrtGetThreadLastTaskId(&task), 0);
    EXPECT(task, 1);
    wait_for(s2, join, s1);
    end_well(s1, 7);
    return finish();
}
