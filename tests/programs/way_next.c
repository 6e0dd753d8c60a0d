/* Asks for what comes after the program itself. */
#include "ways.h"

static void *fetch(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int main(void)
{
    ways_detect(fetch);
    const struct ways way = ways_fetch(fetch);
    ways_run(&way);
    return 0;
}
