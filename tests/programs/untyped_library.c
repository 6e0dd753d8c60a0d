/* A library whose functions have names of AscendCL that no table has. */
#define UNTYPED_DECLARED
#include <stdarg.h>

#include "untyped.h"

int aclOwnData = 31;

int aclOwnPlain(int a)
{
    return a * 3;
}

double aclOwnMixed(TWENTY)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * (double)g + 8 * h + 9 * i + 10 * j +
           11 * k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t;
}

long double aclOwnLong(long double a, int b, long double c)
{
    return a * b + c;
}

struct two aclOwnTwo(struct two a, struct two b)
{
    return (struct two){a.whole + b.whole, a.part - b.part};
}

struct four aclOwnFour(struct four a, double b)
{
    return (struct four){a.a * b, a.b * b, a.c * b, a.d * b};
}

struct large aclOwnLarge(struct large a, int b, struct large c)
{
    for (int i = 0; i < 9; i++) {
        a.words[i] = a.words[i] * b + c.words[8 - i];
    }
    return a;
}

int aclOwnVariadic(char *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsprintf(to, format, list);
    va_end(list);
    return length;
}

/* By way of the dynamic linker. */
long aclOwnRecursive(int depth, long sum)
{
    return depth == 0 ? sum : 1 + aclOwnAgain(depth - 1, sum + depth);
}

long aclOwnAgain(int depth, long sum)
{
    return depth == 0 ? sum : 1 + aclOwnRecursive(depth - 1, sum + depth);
}

int aclOwnVisit(visitor visit, void *data, int times)
{
    int sum = 0;
    for (int i = 0; i < times; i++) {
        sum += visit(i, data);
    }
    return sum;
}

void *aclOwnPointer(void *a, size_t offset)
{
    return (char *)a + offset;
}

float aclOwnFloat(float a)
{
    return a / 2;
}

int aclOwnErrno(int value)
{
    errno = value;
    return value + 1;
}

void aclOwnNothing(void)
{
}

int HcclOwnReduce(int a, int b)
{
    return a + b;
}

int AclOwnUpper(int a)
{
    return a + 1;
}

int mstxOwnMark(const char *text)
{
    return (int)strlen(text);
}

int aclOwnForward(int a)
{
    return aclOwnForwardImpl(a);
}

int aclOwnForwardImpl(int a)
{
    return a + 100;
}

int acl_own_lists(int a)
{
    return -a;
}
