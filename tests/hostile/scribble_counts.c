/* After a recorder that believes what lies in shared memory: overwrites the counts of lost records in its
 * own channel with the largest number there is, as a stray pointer could. */
#include <acl/acl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHANNELS_AT = 65536, CHANNEL = 128, CHANNELS = 4096, PID_AT = 4, COUNTS_AT = 32, COUNTS = 3 };

/* Where the session is mapped. */
static uint8_t *session(void)
{
    const char *path = getenv("ASCEND_TRACE_SESSION");
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    uintptr_t start = 0;

    while (path != NULL && maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, path) != NULL && sscanf(line, "%" SCNxPTR, &start) == 1) {
            break;
        }
        start = 0;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return (uint8_t *)start;
}

int main(void)
{
    int32_t device;
    uint8_t *memory;
    int found = 0;

    (void)aclrtGetDevice(&device);
    memory = session();
    for (int i = 0; memory != NULL && i < CHANNELS; i++) {
        uint8_t *channel = memory + CHANNELS_AT + i * CHANNEL;
        uint32_t pid;

        memcpy(&pid, channel + PID_AT, sizeof pid);
        if (pid == (uint32_t)getpid()) {
            memset(channel + COUNTS_AT, 0xff, COUNTS * 8);
            found = 1;
        }
    }
    (void)aclrtGetDevice(&device);
    printf("%s\n", found ? "scribbled" : "found nothing");
    printf("made 2\n");
    return 0;
}
