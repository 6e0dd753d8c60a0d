/* Loads libraries that are linked to functions of another, one after another, and runs each. */
#include <dlfcn.h>

#include "program.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int deep = argv[i][0] == '+';
        void *library = dlopen(argv[i] + deep, RTLD_LAZY | (deep ? RTLD_DEEPBIND : 0));
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        int (*run)(void) = (int (*)(void))dlsym(library, "linked_run");
        require(run() == 0, "it runs");
    }
    return 0;
}
