/* Copies standard input to standard output; its arguments go to standard error, one a line. */
#include "program.h"

int main(int count, char **words)
{
    char buffer[4096];
    size_t length;

    DO(aclInit(NULL));
    for (int i = 1; i < count; i++) {
        fprintf(stderr, "%s\n", words[i]);
    }
    while ((length = fread(buffer, 1, sizeof buffer, stdin)) > 0) {
        fwrite(buffer, 1, length, stdout);
    }
    return isatty(0) * 1 + isatty(1) * 2 + isatty(2) * 4;
}
