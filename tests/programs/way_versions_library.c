/* A function in two versions. */
#include <stdint.h>

int32_t old_one(int32_t *value);
int32_t new_one(int32_t *value);

int32_t old_one(int32_t *value)
{
    *value = 1;
    return 0;
}

int32_t new_one(int32_t *value)
{
    *value = 2;
    return 0;
}

__asm__(".symver old_one, aclrtGetDevice@TEST_1");
__asm__(".symver new_one, aclrtGetDevice@@TEST_2");
