/* Physical memory can be mapped at reserved addresses, at several at once. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 2 << 20 };
    void *address = NULL, *one, *two;
    aclrtDrvMemHandle handle = NULL, found = NULL;
    aclrtPhysicalMemProp properties;
    size_t granularity = 0;
    int value = 0;
    memset(&properties, 0, sizeof properties);
    start();
    OK(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                                        &granularity));
    EXPECT(granularity, SIZE);
    OK(aclrtReserveMemAddress(&address, 2 * SIZE, 0, NULL, 1));
    one = address;
    two = (char *)address + SIZE;
    OK(aclrtMallocPhysical(&handle, SIZE, &properties, 0));
    OK(aclrtMapMem(one, SIZE, 0, handle, 0));
    EXPECT(aclrtMapMem(one, SIZE, 0, handle, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMapMem(two, SIZE, 0, handle, 0));
    OK(aclrtMemset(one, SIZE, 0x11, SIZE));
    OK(aclrtMemcpy(&value, 4, (char *)two + 400, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(value, 0x11111111);
    OK(aclrtMemRetainAllocationHandle((char *)two + 5, &found));
    TRUE(found == handle);
    EXPECT(aclrtReleaseMemAddress(address), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtUnmapMem(one));
    OK(aclrtUnmapMem(two));
    EXPECT(aclrtUnmapMem(two), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFreePhysical(handle));
    EXPECT(aclrtFreePhysical(handle), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtReleaseMemAddress(address));
    EXPECT(aclrtReleaseMemAddress(address), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
