/* Steps that take the same time, and one that takes ten times as long. Arguments: number of steps; milliseconds of a step; the
 * number of the slow step, in which a call fails; status at the end. Step i fills i * 64 bytes. */
#include "program.h"

enum { UNIT = 64, MISSING_DEVICE = 99 };

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);

int main(int count, char **words)
{
    int steps = count > 1 ? atoi(words[1]) : 10;
    int milliseconds = count > 2 ? atoi(words[2]) : 1;
    int slow = count > 3 ? atoi(words[3]) : 0;
    int status = count > 4 ? atoi(words[4]) : 0;
    size_t bytes = (size_t)UNIT * (size_t)(steps + 1);
    aclrtStream stream;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 1; i <= steps; i++) {
        char name[32];
        uint64_t range;
        void *passing;

        snprintf(name, sizeof(name), "step %d", i);
        range = mstxRangeStartA(name, NULL);
        DO(aclrtMalloc(&passing, UNIT, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtMemsetAsync(buffer, bytes, i, (size_t)i * UNIT, stream));
        DO(aclrtSynchronizeStream(stream));
        usleep((useconds_t)milliseconds * 1000 * (i == slow ? 10 : 1));
        if (i == slow && aclrtSetDevice(MISSING_DEVICE) == ACL_SUCCESS) {
            printf("the machine has many devices\n");
        }
        DO(aclrtFree(passing));
        mstxRangeEnd(range);
    }
    DO(aclrtFree(buffer));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    printf("done %d\n", steps);
    return status;
}
