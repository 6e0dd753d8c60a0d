/* Asks for versions of a function. The first word names a library with two of them. */
#include "program.h"
#include <dlfcn.h>

typedef int32_t query(int32_t *value);

static void show(const char *what, void *function)
{
    int32_t value = 0;

    if (function == NULL) {
        printf("%s: not there, %s\n", what, dlerror() ? "with a reason" : "without one");
        return;
    }
    int32_t code = ((query *)function)(&value);
    printf("%s: %d, code %d\n", what, (int)value, (int)code);
}

int main(int count, char **words)
{
    void *library = dlopen(count > 1 ? words[1] : "", RTLD_NOW | RTLD_LOCAL);

    require(library != NULL, "the library is there");
    show("the old one", dlvsym(library, "aclrtGetDevice", "TEST_1"));
    show("the new one", dlvsym(library, "aclrtGetDevice", "TEST_2"));
    show("the usual one", dlsym(library, "aclrtGetDevice"));
    show("a later one", dlvsym(library, "aclrtGetDevice", "TEST_3"));
    show("another's", dlvsym(library, "getpid_of_nobody", "TEST_1"));
    return 0;
}
