/* A family of processes, each on a device and with a rank of its own: made by fork, by clone, and by a
 * daemon's two forks. Told so, the daemon works only when its parents have ended and it is let go.
 * Arguments: `prompt` or `patient`, a file that the daemon makes when it is done, and for a patient one a
 * file that lets it go. */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

#include "program.h"

static void use_runtime(int device)
{
    DO(aclInit(NULL));
    fill_on_new_stream(device, 2);
    DO(aclrtResetDevice(device));
    DO(aclFinalize());
}

static void work_as(const char *rank, int device)
{
    require(setenv("RANK", rank, 1) == 0, "the rank can be set");
    use_runtime(device);
}

/* As programs that become daemons do it: the process that works has no parent here any more. */
static void start_daemon(const char *done, const char *go)
{
    pid_t child = fork();

    if (child != 0) {
        report_child("starter", child);
        return;
    }
    require(setsid() > 0, "a session of its own");
    /* Whoever reads what the parents print is not kept waiting. */
    int nothing = open("/dev/null", O_RDWR);
    require(nothing >= 0, "there is nothing");
    for (int file = 0; file <= 2; file++) {
        require(dup2(nothing, file) == file, "the daemon lets go of its terminal");
    }
    if (fork() != 0) {
        _exit(0);
    }
    /* Nobody may be left who would let it go. */
    for (int tries = 0; go != NULL && access(go, F_OK) != 0; tries++) {
        require(tries < 120 * 1000, "the daemon is let go");
        usleep(1000);
    }
    work_as("3", 1);
    FILE *file = fopen(done, "w");
    require(file != NULL && fprintf(file, "%d\n", getpid()) > 0 && fclose(file) == 0, "it is told");
    _exit(0);
}

int main(int count, char **words)
{
    require(count >= 3, "a way and a file are named");
    if (strcmp(words[1], "member") == 0) {
        work_as(words[2], 0);
        return 0;
    }
    use_runtime(0);
    pid_t child = fork();
    if (child == 0) {
        work_as("1", 1);
        _exit(0);
    }
    report_child("forked", child);
    /* What a bare clone makes is good for nothing but to become another program. */
    char *member[] = {words[0], "member", "2", NULL};
    /* A launcher sets the rank before the program begins. */
    require(setenv("RANK", "2", 1) == 0, "the rank can be set");
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        execv(words[0], member);
        _exit(1);
    }
    report_child("cloned", child);
    start_daemon(words[2], count > 3 ? words[3] : NULL);
    if (count == 3) {
        /* The daemon ends first. */
        while (access(words[2], F_OK) != 0) {
            usleep(1000);
        }
    }
    return 5;
}
