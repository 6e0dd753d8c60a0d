/* A log that prints. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

void aclAppLog(int level, const char *function, const char *file, uint32_t line, const char *format,
               ...);

void aclAppLog(int level, const char *function, const char *file, uint32_t line, const char *format,
               ...)
{
    va_list rest;

    printf("%d %s %s %u: ", level, function, file, line);
    va_start(rest, format);
    vprintf(format, rest);
    va_end(rest);
}
