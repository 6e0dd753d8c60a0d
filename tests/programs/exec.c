/* Becomes itself again, directly and through children made by fork, vfork and posix_spawn; every
 * image uses AscendCL. */
#include <spawn.h>

#include "program.h"

extern char **environ;

static void use_runtime(const char *name)
{
    DO(aclInit(NULL));
    fill_on_new_stream(0, 2);
    printf("%s is done\n", name);
    fflush(stdout);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "first";
    char *forked[] = {words[0], "forked", NULL};
    char *vforked[] = {words[0], "vforked", NULL};
    char *spawned[] = {words[0], "spawned", NULL};
    char *replaced[] = {words[0], "replaced", NULL};
    pid_t child;

    use_runtime(name);
    if (strcmp(name, "first") != 0) {
        return 7;
    }
    child = fork();
    if (child == 0) {
        execv(words[0], forked);
        _exit(1);
    }
    report_child("forked", child);
    child = vfork();
    if (child == 0) {
        execv(words[0], vforked);
        _exit(1);
    }
    report_child("vforked", child);
    require(posix_spawn(&child, words[0], NULL, NULL, spawned, environ) == 0, "it spawns");
    report_child("spawned", child);
    /* What is on the device when the image is replaced is nobody's any more. */
    execv(words[0], replaced);
    return 1;
}
