/* Becomes itself again and again: each time, threads of a library's constructor make their first calls at
 * once. Words: how often, and the calls that were made so far.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../programs/program.h"

unsigned long long early_calls(void);

int main(int count, char **words)
{
    int left = count > 1 ? atoi(words[1]) : 1;
    unsigned long long made = count > 2 ? strtoull(words[2], NULL, 10) : 0;
    char rest[16], so_far[32];

    made += early_calls();
    if (left > 1) {
        snprintf(rest, sizeof(rest), "%d", left - 1);
        snprintf(so_far, sizeof(so_far), "%llu", made);
        execl("/proc/self/exe", words[0], rest, so_far, (char *)NULL);
        return 97;
    }
    printf("made %llu\n", made);
    return 0;
}
