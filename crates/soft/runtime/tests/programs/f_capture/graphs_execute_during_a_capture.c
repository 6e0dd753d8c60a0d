/* A finished graph executes on another stream while one captures; nothing of it is captured. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    aclmdlRI first = end_well(stream, 1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    run(first, other);
    EXPECT(*word, 1);
    SAY(aclmdlRIDestroy(first), 0);
    aclmdlRI second = end_well(stream, 1);
    run(second, other);
    EXPECT(*word, 2);
    return finish();
}
