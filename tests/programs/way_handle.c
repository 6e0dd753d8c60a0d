/* Not linked: loads the library into a scope of its own and asks the handle. */
#include "ways.h"

static void *library;

static void *fetch(const char *name)
{
    return dlsym(library, name);
}

int main(void)
{
    library = dlopen("libascendcl.so", RTLD_LAZY | RTLD_LOCAL);
    require(library != NULL, "the library is there");
    ways_detect(fetch);
    const struct ways way = ways_fetch(fetch);
    require(way.aclInit == fetch("aclInit"), "one address for one function");
    ways_run(&way);
    return 0;
}
