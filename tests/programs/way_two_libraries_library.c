/* One of two libraries that offer the same names; OWN says which. */
#include <stdint.h>

int32_t aclrtGetDevice(int32_t *value);
int aclblasGemmEx(int a, int b, int c, int d, int e, int f, const void *g, const void *h, int i,
                  int j, const void *k, int l, int m, const void *n, void *o, int p, int q, int r,
                  void *s);

int32_t aclrtGetDevice(int32_t *value)
{
    *value = OWN;
    return OWN * 11;
}

int aclblasGemmEx(int a, int b, int c, int d, int e, int f, const void *g, const void *h, int i,
                  int j, const void *k, int l, int m, const void *n, void *o, int p, int q, int r,
                  void *s)
{
    int words[] = { a, b, c, d, e, f, (int)(intptr_t)g, (int)(intptr_t)h, i, j, (int)(intptr_t)k,
                    l, m, (int)(intptr_t)n, (int)(intptr_t)o, p, q, r, (int)(intptr_t)s };
    int sum = 0;
    for (int index = 0; index < 19; index++) {
        sum += (index + 1) * words[index];
    }
    return OWN * 10000 + sum;
}
