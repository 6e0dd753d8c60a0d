/* A stream is a queue: what was submitted first is done first. */
#include "../check.h"

static int order[1000], count;

static void append(void *number)
{
    order[count++] = (int)(intptr_t)number;
}

int main(void)
{
    enum { STEPS = 500 };
    aclrtStream stream;
    static int seen[STEPS];
    start();
    OK(aclrtCreateStream(&stream));
    for (intptr_t i = 0; i < STEPS; i++) {
        seen[i] = -1;
        if (aclrtLaunchHostFunc(stream, append, (void *)i) != 0) {
            failures++;
        }
    }
    OK(aclrtSynchronizeStream(stream));
    EXPECT(count, STEPS);
    int wrong = 0;
    for (int i = 0; i < STEPS; i++) {
        wrong += order[i] != i;
    }
    EXPECT(wrong, 0);
    EXPECT(seen[0], -1);
    return finish();
}
