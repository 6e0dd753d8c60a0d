/* Uses AscendCL a little, then ends in the way that it is told. */
#include <signal.h>

#include "program.h"

int main(int count, char **words)
{
    const char *way = count > 2 ? words[1] : "";
    int number = count > 2 ? atoi(words[2]) : 0;

    DO(aclInit(NULL));
    fill_on_new_stream(0, 2);
    if (strcmp(way, "wait") == 0) {
        /* Whoever runs the tests in the background ignores what the keyboard sends. */
        signal(SIGINT, SIG_DFL);
    }
    printf("to standard output\n");
    fprintf(stderr, "to standard error\n");
    fflush(stdout);
    if (strcmp(way, "signal") == 0) {
        signal(number, SIG_DFL);
        kill(getpid(), number);
        pause();
    }
    if (strcmp(way, "wait") == 0) {
        /* Until somebody ends it. */
        for (;;) {
            pause();
        }
    }
    return strcmp(way, "status") == 0 ? number : 0;
}
