/* Calls a library whose functions look like those below AscendCL, linked and fetched. */
#include "program.h"
#include <dlfcn.h>

double rtRayMarch(double one, int two, float three, const char *four, ...);

int main(void)
{
    double (*fetched)(double, int, float, const char *, ...);

    DO(aclInit(NULL));
    *(void **)&fetched = dlsym(RTLD_DEFAULT, "rtRayMarch");
    require(fetched == rtRayMarch, "it is one function");
    (void)dlerror();
    require(dlsym(RTLD_DEFAULT, "rtRayMiss") == NULL, "another one is not there");
    printf("%s\n", dlerror() != NULL ? "with a reason" : "without one");
    printf("%g\n", rtRayMarch(1, 2, 3, "4", 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15., 16.));
    printf("%g\n", fetched(1, 2, 3, "4", 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15., 16.));
    DO(aclFinalize());
    return 0;
}
