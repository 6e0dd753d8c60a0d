/* A library in a scope of its own, which asks for what it can see itself. */
#include "ways.h"

int plugin_run(void);

static void *fetch_default(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static void *fetch_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int plugin_run(void)
{
    ways_detect(fetch_default);
    ways_detect(fetch_next);
    struct ways way = ways_fetch(fetch_default);
    ways_run(&way);
    way = ways_fetch(fetch_next);
    ways_run(&way);
    return 7;
}
