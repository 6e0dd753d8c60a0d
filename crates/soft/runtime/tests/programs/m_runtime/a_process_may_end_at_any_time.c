/* A process ends at once, with work queued, callbacks waiting and threads asleep. */
#include "../check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static aclrtStream stream;
static struct gate never;

static void *synchronise(void *unused)
{
    aclrtSynchronizeStream(stream);
    return unused;
}

static void *leave(void *unused)
{
    exit(3);
    return unused;
}

static void busy(void)
{
    pthread_t thread;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &never));
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), NULL));
    OK(aclrtLaunchCallback(wait_at_gate, &never, ACL_CALLBACK_BLOCK, NULL));
    pthread_create(&thread, NULL, synchronise, NULL);
    sleep_ms(20);
}

static int status_of(int way)
{
    int status = -1;
    pthread_t thread;
    pid_t child = fork();
    if (child == 0) {
        busy();
        if (failures != 0) {
            _exit(1);
        }
        if (way == 1) {
            pthread_create(&thread, NULL, leave, NULL);
            pthread_join(thread, NULL);
        }
        exit(2);
    }
    EXPECT(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    EXPECT(status_of(0), 2);
    EXPECT(status_of(1), 3);
    OK(aclFinalize());
    return finish();
}
