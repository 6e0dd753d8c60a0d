/* The direction of a copy follows from the addresses, whatever the kind says. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 100000 };
    static unsigned char from[SIZE], to[SIZE];
    void *first, *second;
    start();
    for (int i = 0; i < SIZE; i++) {
        from[i] = (unsigned char)(i * 7);
    }
    OK(aclrtMalloc(&first, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&second, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(first, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(second, SIZE, first, SIZE, ACL_MEMCPY_HOST_TO_HOST));
    OK(aclrtMemcpy(to, SIZE, second, SIZE, ACL_MEMCPY_DEFAULT));
    EXPECT(memcmp(from, to, SIZE), 0);
    OK(aclrtMemset(second, SIZE, 0xab, SIZE / 2));
    OK(aclrtMemcpy(to, SIZE, second, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(to[SIZE / 2 - 1], 0xab);
    EXPECT(memcmp(from + SIZE / 2, to + SIZE / 2, SIZE / 2), 0);
    OK(aclrtMemcpy(first, SIZE, first, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemsetD32(first, SIZE, 0x01020304, SIZE / 4));
    OK(aclrtMemcpy(to, SIZE, first, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(to[SIZE - 4], 4);
    EXPECT(to[3], 1);
    return finish();
}
