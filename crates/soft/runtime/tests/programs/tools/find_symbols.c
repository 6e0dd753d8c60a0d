/* find_symbols LIBRARY NAMES: tells which names of a file the library does not define. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char name[256];
    int found = 0, missing = 0;
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    FILE *names = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (!library || !names) {
        printf("usage, or: %s\n", dlerror());
        return 2;
    }
    while (fgets(name, sizeof name, names)) {
        name[strcspn(name, "\n")] = 0;
        if (dlsym(library, name)) {
            found++;
        } else {
            missing++;
            printf("%s\n", name);
        }
    }
    printf("%d found\n", found);
    return missing != 0;
}
