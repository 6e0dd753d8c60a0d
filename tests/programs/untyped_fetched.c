/* Fetches the functions of a library, one by one. */
#include <dlfcn.h>

#include "untyped.h"

int main(int argc, char **argv)
{
    struct untyped own;
    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);

    require(library != NULL, "the library loads");
#define F(result, name, arguments) own.name = (result(*) arguments)dlsym(library, #name);
    UNTYPED_FUNCTIONS(F)
#undef F
    require(dlsym(library, "aclOwnPlain") == (void *)own.aclOwnPlain, "one address for one name");
    printf("data %d\n", *(int *)dlsym(library, "aclOwnData"));
    dlerror();
    require(dlsym(library, "aclOwnMissing") == NULL, "what is missing is not there");
    require(dlerror() != NULL, "and there is an error");
    require(dlsym(RTLD_DEFAULT, "aclOwnMissing") == NULL, "nor anywhere");
    require(dlsym(RTLD_DEFAULT, "aclOwnPlain") == NULL, "the library is in a scope of its own");
    untyped_run(&own);
    return 0;
}
