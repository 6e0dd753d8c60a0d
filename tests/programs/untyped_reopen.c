/* Opens a library again that was closed, and calls what is fetched from it each time. */
#include <dlfcn.h>

#include "untyped.h"

int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        require(library != NULL, "the library loads");
        int (*plain)(int) = (int (*)(int))dlsym(library, "aclOwnPlain");
        printf("%d\n", plain(i));
        require(dlclose(library) == 0, "it closes");
    }
    return 0;
}
