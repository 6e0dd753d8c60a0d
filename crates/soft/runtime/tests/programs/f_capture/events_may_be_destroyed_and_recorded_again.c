/* A later record is another node; events may be destroyed while they are captured. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    for (int i = 0; i < 3; i++) {
        SAY(aclrtLaunchHostFunc(s1, add_one, word), 0);
        wait_for(s1, event, s2);
        SAY(aclrtLaunchHostFunc(s2, add_one, word), 0);
        wait_for(s2, event, s1);
    }
    SAY(aclrtDestroyEvent(event), 0);
    aclmdlRI model = end_well(s1, 18);
    run(model, s2);
    EXPECT(*word, 6);
    return finish();
}
