/* Opens a library again that was closed, and calls it by what was fetched before and after. */
#include <dlfcn.h>

#include "untyped.h"

int main(int argc, char **argv)
{
    int (*plain[3])(int);

    for (int i = 0; i < 3; i++) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        require(library != NULL, "the library loads");
        plain[i] = (int (*)(int))dlsym(library, "aclOwnPlain");
        printf("%d\n", plain[i](i));
        require(dlclose(library) == 0, "it closes");
    }
    printf("%d\n", plain[2] == plain[0]);
    return 0;
}
