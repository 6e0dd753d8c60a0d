/* Says its argument, and starts itself again with another one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    const char *said = count > 1 ? words[1] : "";
    puts(said);
    fflush(stdout);
    if (strcmp(said, "once") == 0) {
        execl("/proc/self/exe", words[0], "again", (char *)NULL);
        return 1;
    }
    return 0;
}
