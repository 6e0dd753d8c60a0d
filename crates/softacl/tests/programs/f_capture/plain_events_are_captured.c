/* Events of aclrtCreateEvent were used for capture in 2025; the version of 2026 refuses them. */
#include "../capture.h"

int main(void)
{
    aclrtEvent fork, join;
    start();
    aclrtStream main_stream = new_stream(), side = new_stream();
    uint64_t *a = new_word(1), *b = new_word(0);
    OK(aclrtCreateEvent(&fork));
    OK(aclrtCreateEvent(&join));
    SAY(aclmdlRICaptureBegin(main_stream, GLOBAL), 0);
    wait_for(main_stream, fork, side);
    copy_word(b, a, side);
    wait_for(side, join, main_stream);
    SAY(aclrtResetEvent(fork, main_stream), 0);
    aclmdlRI model = end_well(main_stream, 5);
    *a = 44;
    run(model, main_stream);
    EXPECT(*b, 44);
    return finish();
}
