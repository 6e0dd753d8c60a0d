/* Writes over the memory that it shares with the recorder, and makes no call after that: scribble PART SEED.
 * Random bytes by the seed go over one part; `owner` changes the owner of its own channel, and `ghost` makes
 * a channel for a process that does not exist. */
#include <acl/acl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAGIC = 8, HEADER = 4096, CHANNELS_AT = 65536, CHANNEL = 128, CHANNELS = 4096, CALLS = 10, STATUS = 5 };
enum { USED_AT = 40, PID_AT = 4, FIRST_AT = 12, NO_PID = 4194000 };
#define SEGMENTS_AT (CHANNELS_AT + CHANNELS * CHANNEL + CHANNELS * 512)
#define SEGMENTS (256 * 65536)

static uint64_t state;

static uint8_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint8_t)(state >> 32);
}

static void fill(uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        from[i] = next();
    }
}

static uint8_t *session(void)
{
    const char *path = getenv("ASCEND_TRACE_SESSION");
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    uintptr_t start = 0;

    while (path != NULL && maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
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

static void change_channels(uint8_t *table, int is_ghost)
{
    uint32_t pid = NO_PID;

    for (int i = 0; i < CHANNELS; i++) {
        uint8_t *channel = table + i * CHANNEL;
        uint32_t found;

        memcpy(&found, channel + PID_AT, sizeof(found));
        if (found != (uint32_t)getpid()) {
            continue;
        }
        if (is_ghost) {
            uint8_t *free_one = channel + CHANNEL;
            memcpy(free_one, channel, CHANNEL);
            memset(free_one + FIRST_AT, 0, sizeof(pid));
            memcpy(free_one + PID_AT, &pid, sizeof(pid));
            /* The recorder looks at as many channels as the header counts. */
            uint32_t used = i + 2;
            memcpy(table - CHANNELS_AT + USED_AT, &used, sizeof(used));
        } else {
            memcpy(channel + PID_AT, &pid, sizeof(pid));
        }
        return;
    }
}

int main(int count, char **words)
{
    uint8_t *memory;
    int32_t device;

    if (count < 3) {
        return 1;
    }
    for (int i = 0; i < CALLS; i++) {
        (void)aclrtGetDevice(&device);
    }
    memory = session();
    if (memory == NULL) {
        return 2;
    }
    /* Most of the time the recorder has read the calls by then. */
    usleep(100000);
    state = 0x9e3779b97f4a7c15u * (strtoull(words[2], NULL, 10) + 1);
    if (strcmp(words[1], "header") == 0 || strcmp(words[1], "all") == 0) {
        fill(memory + MAGIC, HEADER - MAGIC);
    }
    if (strcmp(words[1], "channels") == 0 || strcmp(words[1], "all") == 0) {
        fill(memory + CHANNELS_AT, CHANNELS * CHANNEL);
    }
    if (strcmp(words[1], "segments") == 0 || strcmp(words[1], "all") == 0) {
        fill(memory + SEGMENTS_AT, SEGMENTS);
    }
    if (strcmp(words[1], "owner") == 0 || strcmp(words[1], "ghost") == 0) {
        change_channels(memory + CHANNELS_AT, words[1][0] == 'g');
    }
    usleep(100000);
    printf("scribbled\n");
    return STATUS;
}
