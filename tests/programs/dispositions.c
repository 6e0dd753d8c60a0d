/* Executes a command with default actions for all signals, except those in the comma-separated list of its first word,
 * which the command ignores.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count < 3) {
        return 2;
    }
    for (int number = 1; number < SIGRTMIN; number++) {
        signal(number, SIG_DFL);
    }
    for (char *next = words[1]; *next != '\0'; next += *next == ',') {
        signal((int)strtol(next, &next, 10), SIG_IGN);
    }
    execv(words[2], words + 2);
    perror(words[2]);
    return 127;
}
