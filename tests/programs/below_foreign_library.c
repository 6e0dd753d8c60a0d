/* A library that has nothing to do with AscendCL, and names its functions as the layer below does. */
#include <stdarg.h>

double rtRayMarch(double one, int two, float three, const char *four, ...);

double rtRayMarch(double one, int two, float three, const char *four, ...)
{
    va_list rest;
    double sum = one + two + three + four[0];

    va_start(rest, four);
    for (int i = 0; i < 12; i++) {
        sum += va_arg(rest, double);
    }
    va_end(rest);
    return sum;
}
