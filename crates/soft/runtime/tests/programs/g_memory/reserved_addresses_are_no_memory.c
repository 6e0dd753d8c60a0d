/* Addresses can be reserved beyond the memory that there is. What is mapped there counts, and holds data across
 * the borders of mappings. */
#include "../check.h"

enum { SIZE = 2 << 20 };

static size_t left(void)
{
    size_t unused = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
    return unused;
}

int main(void)
{
    void *small = NULL, *large = NULL;
    aclrtDrvMemHandle first = NULL, second = NULL;
    aclrtPhysicalMemProp properties;
    aclrtPtrAttributes attributes;
    char text[] = "across the border", back[sizeof text] = "";
    size_t before;
    memset(&properties, 0, sizeof properties);
    start();
    before = left();
    EXPECT(aclrtReserveMemAddress(&small, 0, 0, NULL, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtReserveMemAddress(&small, 512, 4096, NULL, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReserveMemAddress(&small, 512, 0, NULL, 2), ACL_ERROR_INVALID_PARAM);
    OK(aclrtReserveMemAddress(&small, 512, 0, NULL, 0));
    OK(aclrtReserveMemAddress(&large, (size_t)60 << 30, 0, NULL, 1));
    EXPECT(left(), before);
    EXPECT(aclrtMemcpy(large, 8, text, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);

    OK(aclrtMallocPhysical(&first, SIZE, &properties, 0));
    OK(aclrtMallocPhysical(&second, SIZE, &properties, 0));
    EXPECT(left(), before - 2 * SIZE);
    OK(aclrtMapMem(large, SIZE, 0, first, 0));
    OK(aclrtMapMem((char *)large + SIZE, SIZE, 0, second, 0));
    OK(aclrtMemcpy((char *)large + SIZE - 5, sizeof text, text, sizeof text,
                   ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(back, sizeof back, (char *)large + SIZE - 5, sizeof back,
                   ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(strcmp(back, text) == 0);
    EXPECT(aclrtMemcpy((char *)large + 2 * SIZE - 5, sizeof text, text, sizeof text,
                       ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtPointerGetAttributes(large, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);

    OK(aclrtFreePhysical(first));
    EXPECT(left(), before - 2 * SIZE);
    OK(aclrtUnmapMem(large));
    EXPECT(left(), before - SIZE);
    OK(aclrtUnmapMem((char *)large + SIZE));
    OK(aclrtFreePhysical(second));
    EXPECT(left(), before);
    OK(aclrtReleaseMemAddress(large));
    OK(aclrtReleaseMemAddress(small));
    return finish();
}
