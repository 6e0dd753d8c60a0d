/* One thread waits in a call for ever, another within a call within its callback; then the program ends as
 * it is told: by SIGKILL, by a return from main, or by a signal of its own.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <signal.h>

#include "../programs/program.h"

static aclrtStream stream;
static aclrtEvent never;

static void *waits(void *unused)
{
    (void)unused;
    DO(aclrtSetDevice(0));
    /* Nothing takes the callback, so the stream never gets beyond it. */
    aclrtSynchronizeStream(stream);
    return NULL;
}

static void nothing(void *unused) { (void)unused; }

int main(int count, char **words)
{
    pthread_t thread;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateEvent(&never));
    DO(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    DO(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, stream));
    DO(aclrtRecordEvent(never, stream));
    pthread_create(&thread, NULL, waits, NULL);
    usleep(300000);
    printf("hangs\n");
    fflush(stdout);
    if (count > 1 && strcmp(words[1], "killed") == 0) {
        kill(getpid(), SIGKILL);
    }
    if (count > 1 && strcmp(words[1], "exits") == 0) {
        _exit(3);
    }
    aclrtSynchronizeEvent(never);
    return 0;
}
