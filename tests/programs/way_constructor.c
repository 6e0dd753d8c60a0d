/* A library whose constructor and destructor do all the work. */
#include "ways.h"

#define X(name) .name = name,
static const struct ways way = { WAYS_FUNCTIONS(X) };
#undef X

__attribute__((constructor)) static void begin(void)
{
    ways_run(&way);
}

__attribute__((destructor)) static void end(void)
{
    ways_run(&way);
    fflush(stdout);
}
