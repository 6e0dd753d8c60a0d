/* Asks everything that is loaded, and the program's own handle, which leads there too. */
#include "ways.h"

static void *own;

static void *fetch(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static void *fetch_own(const char *name)
{
    return dlsym(own, name);
}

int main(void)
{
    own = dlopen(NULL, RTLD_LAZY);
    ways_detect(fetch);
    ways_detect(fetch_own);
    const struct ways way = ways_fetch(fetch);
    require(fetch_own("aclInit") == (void *)way.aclInit, "both lead to one function");
    ways_run(&way);
    return 0;
}
