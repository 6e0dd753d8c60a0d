/* A function with a variable number of arguments, in registers of both kinds and on the stack. */
#include <stdint.h>

void aclAppLog(int level, const char *function, const char *file, uint32_t line, const char *format,
               ...);

int main(void)
{
    aclAppLog(1, "main", "way_variadic.c", 11, "plain\n");
    aclAppLog(2, "main", "way_variadic.c", 12, "%d %s %g %ld\n", -1, "two", 3.5, 4L);
    aclAppLog(3, "main", "way_variadic.c", 13,
              "%g %g %g %g %g %g %g %g %g %g %d %d %d %d %d %d %d %d\n", 1.5, 2.5, 3.5, 4.5, 5.5,
              6.5, 7.5, 8.5, 9.5, 10.5, 11, 12, 13, 14, 15, 16, 17, 18);
    return 0;
}
