/* In the place of libascendcl.so: what a program calls is counted and answered, and nothing is done. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int aclInit(const char *config) { return config == NULL ? 0 : 100000; }
int aclFinalize(void) { return 0; }
int aclrtSetDevice(int32_t device) { return device == 3 ? 0 : 107001; }

int aclrtMemcpyAsync(void *to, size_t most, const void *from, size_t count, int kind, void *stream)
{
    int fits = to != NULL && most == 77 && from != NULL && count == 66 && kind == 1;
    return fits && stream == (void *)0x5500 ? 0 : 100000;
}

/* Nine arguments of each class and one beyond, as a function of unknown arguments may have. */
void aclAppLog(int level, const char *func, const char *file, uint32_t line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%d %s %s %u ", level, func, file, line);
    vprintf(format, list);
    va_end(list);
}
