/* Functions with names of AscendCL that no table has, of every kind of argument and result, and one
 * sequence of calls of them.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_UNTYPED_H
#define TESTS_UNTYPED_H

#include "program.h"

struct two { long whole; double part; };
struct four { double a, b, c, d; };
struct large { long words[9]; };

typedef int (*visitor)(int, void *);

#define TWENTY                                                                                       \
    int a, double b, long c, float d, int8_t e, double f, uint64_t g, double h, int i, float j,      \
        long k, double l, int16_t m, double n, int o, double p, long q, double r, unsigned s, float t

/* Result, name, arguments. */
#define UNTYPED_FUNCTIONS(F)                                                                         \
    F(int, aclOwnPlain, (int a))                                                                     \
    F(double, aclOwnMixed, (TWENTY))                                                                 \
    F(long double, aclOwnLong, (long double a, int b, long double c))                                \
    F(struct two, aclOwnTwo, (struct two a, struct two b))                                           \
    F(struct four, aclOwnFour, (struct four a, double b))                                            \
    F(struct large, aclOwnLarge, (struct large a, int b, struct large c))                            \
    F(int, aclOwnVariadic, (char *to, const char *format, ...))                                      \
    F(long, aclOwnRecursive, (int depth, long sum))                                                  \
    F(long, aclOwnAgain, (int depth, long sum))                                                      \
    F(int, aclOwnVisit, (visitor visit, void *data, int times))                                      \
    F(void *, aclOwnPointer, (void *a, size_t offset))                                               \
    F(float, aclOwnFloat, (float a))                                                                 \
    F(int, aclOwnErrno, (int value))                                                                 \
    F(void, aclOwnNothing, (void))                                                                   \
    F(int, HcclOwnReduce, (int a, int b))                                                            \
    F(int, AclOwnUpper, (int a))                                                                     \
    F(int, mstxOwnMark, (const char *text))                                                          \
    F(int, aclOwnForward, (int a))                                                                   \
    F(int, aclOwnForwardImpl, (int a))                                                               \
    F(int, acl_own_lists, (int a))

struct untyped {
#define F(result, name, arguments) result (*name) arguments;
    UNTYPED_FUNCTIONS(F)
#undef F
};

#ifdef UNTYPED_DECLARED
#define F(result, name, arguments) result name arguments;
UNTYPED_FUNCTIONS(F)
#undef F
extern int aclOwnData;
#endif

static int untyped_visited(int number, void *data)
{
    const struct untyped *own = data;
    return own->aclOwnPlain(number) + (number > 2 ? own->aclOwnVisit(untyped_visited, data, 1) : 0);
}

/* Calls everything once, some functions several times: what was asked for is printed. */
static inline void untyped_run(const struct untyped *own)
{
    char text[200];
    struct two one = {7, 0.5}, other = {-9, 0.25}, two;
    struct four four = {1, 2, 3, 4};
    struct large large = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    volatile unsigned char guard[2048];
    int kept = 0;

    for (size_t i = 0; i < sizeof guard; i++) {
        guard[i] = (unsigned char)(i * 7);
    }
    printf("plain %d\n", own->aclOwnPlain(-3));
    printf("mixed %g\n", own->aclOwnMixed(1, 2.5, 3, 4.5f, -5, 6.5, 7, 8.5, 9, 10.5f, 11, 12.5, -13,
                                          14.5, 15, 16.5, 17, 18.5, 19, 20.5f));
    printf("long %Lg\n", own->aclOwnLong(1.5L, 2, 1e30L));
    two = own->aclOwnTwo(one, other);
    printf("two %ld %g\n", two.whole, two.part);
    four = own->aclOwnFour(four, 10);
    printf("four %g %g %g %g\n", four.a, four.b, four.c, four.d);
    large = own->aclOwnLarge(large, 3, large);
    printf("large %ld %ld %ld\n", large.words[0], large.words[4], large.words[8]);
    printf("variadic %d", own->aclOwnVariadic(text, "%d %s %g %Lg %ld %c %g %g %g %g %g %g %g %g",
                                              1, "two", 3.5, 4.5L, 5L, '6', 7.5, 8.5, 9.5, 10.5,
                                              11.5, 12.5, 13.5, 14.5));
    printf(" %s\n", text);
    printf("recursive %ld\n", own->aclOwnRecursive(5, 0));
    printf("visit %d\n", own->aclOwnVisit(untyped_visited, (void *)own, 4));
    printf("pointer %d\n", own->aclOwnPointer(text, 9) == (void *)(text + 9));
    printf("float %g\n", (double)own->aclOwnFloat(2.5f));
    errno = 17;
    own->aclOwnPlain(1);
    printf("errno %d", errno);
    printf(" %d", own->aclOwnErrno(5));
    printf(" %d\n", errno);
    own->aclOwnNothing();
    printf("others %d %d %d\n", own->HcclOwnReduce(3, 4), own->AclOwnUpper(5),
           own->mstxOwnMark("a mark"));
    printf("forward %d %d\n", own->aclOwnForward(6), own->aclOwnForwardImpl(7));
    printf("lists %d\n", own->acl_own_lists(8));
    for (size_t i = 0; i < sizeof guard; i++) {
        kept += guard[i] == (unsigned char)(i * 7);
    }
    printf("guard %d\n", kept);
    fflush(stdout);
}

#endif
