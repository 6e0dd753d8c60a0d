/* A wait for a captured record draws a stream into the capture; a record and a wait bring it back. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream main_stream = new_stream(), side = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    SAY(aclmdlRICaptureBegin(main_stream, GLOBAL), 0);
    set_word(a, 7, main_stream);
    EXPECT(status_of(side), NONE);
    wait_for(main_stream, fork, side);
    EXPECT(status_of(side), ACTIVE);
    copy_word(b, a, side);
    wait_for(side, join, main_stream);
    copy_word(c, b, main_stream);
    aclmdlRI model = end_well(main_stream, 7);
    EXPECT(status_of(side), NONE);
    run(model, main_stream);
    EXPECT(*c, 7);
    return finish();
}
