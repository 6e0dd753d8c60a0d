/* Cuts the memory of its own recording, as a script that tidies up /dev/shm could: cut BYTES CALLS. It makes
 * calls, which are read meanwhile, cuts the file to so many bytes, waits until it has its length again, and
 * makes CALLS calls more. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 20, TRIES = 20000, STATUS = 3 };

static off_t length(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 ? found.st_size : 0;
}

static void call(int times)
{
    int32_t device;

    for (int i = 0; i < times; i++) {
        (void)aclrtGetDevice(&device);
    }
}

int main(int count, char **words)
{
    const char *path = getenv("ASCEND_TRACE_SESSION");
    off_t before = path == NULL ? 0 : length(path);

    if (count < 3 || path == NULL) {
        return 1;
    }
    call(FIRST);
    /* The recorder reads every few milliseconds. */
    usleep(1000000);
    if (truncate(path, atol(words[1])) != 0) {
        return 2;
    }
    for (int i = 0; i < TRIES && length(path) < before; i++) {
        usleep(1000);
    }
    call(atoi(words[2]));
    printf("%s\n", length(path) == before ? "repaired" : "short");
    return STATUS;
}
