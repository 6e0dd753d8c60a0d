// Writes over the memory that it shares with the recorder: what is there afterwards is nobody's word.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

int main(void) {
    aclInit(NULL);
    aclrtSetDevice(0);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int found = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "rw-s") == NULL || strstr(line, "ascend-trace") == NULL) continue;
        char *end = NULL;
        char *first = (char *)strtoul(line, &end, 16);
        size_t length = (char *)strtoul(end + 1, NULL, 16) - first;
        // All but the page that says what the memory is.
        memset(first + 4096, 0xff, (length < (1 << 20) ? length : 1 << 20) - 4096);
        found = 1;
    }
    aclrtResetDevice(0);
    aclFinalize();
    puts("done");
    return found ? 6 : 7;
}
