/* Other streams execute their tasks while one captures. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    set_word(a, 1, stream);
    set_word(b, 2, NULL);
    set_word(c, 3, other);
    SAY(aclrtSynchronizeStream(NULL), 0);
    SAY(aclrtSynchronizeStream(other), 0);
    EXPECT(*a, 0);
    EXPECT(*b, 2);
    EXPECT(*c, 3);
    end_well(stream, 1);
    return finish();
}
