/* The program gives up all system calls but read, write and exit, before its first call of AscendCL or after
 * many, and goes on calling: enough to need new memory for records. One system call of the tracer's kills it.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "counted.h"

static void tell(unsigned long long number)
{
    char text[64] = "made ";
    char digits[32];
    int count = 0, at = 5;

    do {
        digits[count++] = '0' + number % 10;
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        text[at++] = digits[--count];
    }
    text[at++] = '\n';
    require(write(1, text, at) == at, "written");
}

int main(int count, char **words)
{
    int32_t major, minor, patch;

    if (count > 1 && strcmp(words[1], "late") == 0) {
        COUNT(aclInit(NULL));
        COUNT(aclrtSetDevice(0));
    }
    require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict");
    for (int i = 0; i < 10000; i++) {
        COUNT(aclrtGetVersion(&major, &minor, &patch));
    }
    tell(returned);
    syscall(SYS_exit, 0);
    return 1;
}
