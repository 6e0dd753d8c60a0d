/* The third stream comes from the second, and comes back to it. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent to2 = new_event(), to3 = new_event(), back2 = new_event(), back3 = new_event();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0), *d = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    set_word(a, 9, s1);
    wait_for(s1, to2, s2);
    copy_word(b, a, s2);
    wait_for(s2, to3, s3);
    EXPECT(status_of(s3), ACTIVE);
    copy_word(c, b, s3);
    wait_for(s3, back3, s2);
    wait_for(s2, back2, s1);
    copy_word(d, c, s1);
    aclmdlRI model = end_well(s1, 12);
    run(model, s1);
    EXPECT(*d, 9);
    return finish();
}
