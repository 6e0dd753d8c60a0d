/* Loads a library, uses it, closes it, and does so again. */
#include "program.h"
#include <dlfcn.h>

int main(int count, char **words)
{
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(count > 1 ? words[1] : "", RTLD_NOW | RTLD_LOCAL);
        int32_t (*query)(int32_t *);
        int32_t value = 0;

        require(library != NULL, "the library is there");
        *(void **)&query = dlsym(library, "aclrtGetDevice");
        printf("code %d", query(&value));
        printf(", value %d\n", value);
        printf("closed: %d\n", dlclose(library));
    }
    return 0;
}
