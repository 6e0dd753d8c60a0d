/* What the kernel starts in the place of an aarch64 program: qemu-aarch64 with that program. A program
 * without a loader of its own, so that the tracer's variables, which are for the program's loader, mean
 * nothing to it; and they are handed on in a way that qemu's loader does not see either.
 * Words: this file, the program's path, the name it was called by, its arguments. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef QEMU
#error "QEMU is the emulator's path"
#endif
#ifndef SYSROOT
#error "SYSROOT is where the libraries for aarch64 are"
#endif

extern char **environ;

/* Takes the loader's variables out of the environment and makes options of qemu of them. */
static size_t hand_on(char **words, size_t used)
{
    char **kept = environ;
    for (char **variable = environ; *variable != NULL; variable++) {
        if (strncmp(*variable, "LD_", 3) == 0) {
            words[used++] = "-E";
            words[used++] = *variable;
        } else {
            *kept++ = *variable;
        }
    }
    *kept = NULL;
    return used;
}

int main(int count, char **given)
{
    size_t variables = 0, used = 0;
    while (environ[variables] != NULL) {
        variables++;
    }
    char **words = calloc((size_t)count + 2 * variables + 8, sizeof *words);
    if (words == NULL || count < 3) {
        return 125;
    }
    words[used++] = "qemu-aarch64";
    words[used++] = "-L";
    words[used++] = SYSROOT;
    used = hand_on(words, used);
    words[used++] = "-0";
    words[used++] = given[2];
    words[used++] = given[1];
    for (int word = 3; word < count; word++) {
        words[used++] = given[word];
    }
    execv(QEMU, words);
    perror("cannot start " QEMU);
    return 126;
}
