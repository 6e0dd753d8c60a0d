/* A library whose constructor calls functions that no table has, before and after it has looked up a
 * name; and, compiled as a program, what loads it. */
#include <dlfcn.h>

#define UNTYPED_DECLARED
#include "untyped.h"

#ifdef UNTYPED_MAIN
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    ((void (*)(void))dlsym(library, "constructed_run"))();
    return 0;
}
#else
void constructed_run(void);

__attribute__((constructor)) static void begin(void)
{
    printf("%d %d\n", aclOwnPlain(1), aclOwnErrno(1));
    printf("%d\n", dlsym(RTLD_DEFAULT, "getpid") != NULL);
    printf("%d\n", aclOwnPlain(2));
}

void constructed_run(void)
{
    printf("%d\n", aclOwnPlain(3));
}
#endif
