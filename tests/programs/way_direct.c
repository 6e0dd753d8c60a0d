/* Linked against the library, called by name. */
#include "ways.h"

int main(void)
{
#define X(name) .name = name,
    const struct ways way = { WAYS_FUNCTIONS(X) };
#undef X
    ways_run(&way);
    return 0;
}
