/* After a recorder that looks through all processes whenever one of them has ended, or that has no room for
 * as many processes as come at once.
 *
 * `short NUMBER AT_ONCE CALLS` starts the program anew so often, so many at a time; `together NUMBER CALLS`
 * forks so many processes, none of which ends before all have made their calls. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(long calls)
{
    int32_t device;

    for (long i = 0; i < calls; i++) {
        (void)aclrtGetDevice(&device);
    }
}

/* Answers whether one ended as it should. */
static int reap(void)
{
    int status;

    return wait(&status) > 0 && status == 0;
}

static long run_short(const char *program, const char *calls, long number, long at_once)
{
    long good = 0, started = 0, running = 0;

    while (started < number || running > 0) {
        if (started < number && running < at_once) {
            pid_t child = fork();

            if (child == 0) {
                execl(program, program, "child", calls, (char *)NULL);
                _exit(9);
            }
            started += 1;
            running += child > 0;
            continue;
        }
        good += reap();
        running -= 1;
    }
    return good;
}

static long run_together(long number, long calls)
{
    int done[2], go[2];
    long started = 0, good = 0;
    char byte = 0;

    if (pipe(done) != 0 || pipe(go) != 0) {
        return 0;
    }
    while (started < number) {
        pid_t child = fork();

        if (child == 0) {
            close(go[1]);
            call(calls);
            if (write(done[1], &byte, 1) != 1) {
                _exit(8);
            }
            (void)!read(go[0], &byte, 1);
            _exit(0);
        }
        if (child < 0) {
            break;
        }
        started += 1;
    }
    for (long i = 0; i < started; i++) {
        if (read(done[0], &byte, 1) != 1) {
            break;
        }
    }
    close(go[1]);
    for (long i = 0; i < started; i++) {
        good += reap();
    }
    return good;
}

int main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "child") == 0) {
        call(atol(words[2]));
        return 0;
    }
    if (count == 5 && strcmp(words[1], "short") == 0) {
        long good = run_short(words[0], words[4], atol(words[2]), atol(words[3]));

        printf("made %ld\n", good * atol(words[4]));
        return 0;
    }
    if (count == 4 && strcmp(words[1], "together") == 0) {
        long good = run_together(atol(words[2]), atol(words[3]));

        printf("made %ld\n", good * atol(words[3]));
        return 0;
    }
    return 2;
}
