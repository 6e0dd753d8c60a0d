/* Asks for the id of its last task, as CANN's operator libraries do after a launch. The ids go to
 * the file that the first word names: they are not the same with a tracer. */
#include "program.h"

int main(int count, char **words)
{
    enum { BYTES = 4096 };
    FILE *file = fopen(count > 1 ? words[1] : "/dev/null", "w");
    aclrtStream stream;
    void *buffer;

    require(file != NULL, "the file can be written");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 10; i++) {
        uint32_t id = 0, again = 0;
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
        DO(aclrtGetThreadLastTaskId(&id));
        DO(aclrtGetThreadLastTaskId(&again));
        require(id == again, "asking changes nothing");
        fprintf(file, "%u\n", id);
        if (i == 5) {
            DO(aclrtSynchronizeStream(stream));
        }
    }
    DO(aclrtSynchronizeStream(stream));
    fclose(file);
    DO(aclrtFree(buffer));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
