/* After: a session that cannot be joined at the first chance. This program looks functions up before any
 * library is initialised, the C library included, which has no environment then. Later it makes a few
 * calls like any other program. With "early" it makes one of them before everything else as well. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dlfcn.h>
#include <stdio.h>

static void *early;
static void *early_function;

static void look_up_early(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    early = dlsym(RTLD_DEFAULT, "getpid");
    early_function = dlsym(RTLD_DEFAULT, "aclrtGetVersion");
}

__attribute__((section(".preinit_array"), used)) static void (*const FIRST)(int, char **, char **) = look_up_early;

int main(void)
{
    int32_t major = 0, minor = 0, patch = 0;
    aclError (*version)(int32_t *, int32_t *, int32_t *) = (__typeof__(version))early_function;

    printf("found early: %d %d\n", early != NULL, early_function != NULL);
    printf("answers: %d\n", version(&major, &minor, &patch));
    printf("answers: %d\n", aclInit(NULL));
    printf("answers: %d\n", aclFinalize());
    printf("made 3\n");
    return 0;
}
