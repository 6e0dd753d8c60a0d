/* Host memory can be registered once; then copies with it are tasks. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 8192 };
    void *memory = NULL, *mapped = NULL, *device;
    aclrtStream stream;
    aclrtPtrAttributes attributes;
    uint32_t task = 99;
    start();
    OK(aclrtCreateStream(&stream));
    EXPECT(posix_memalign(&memory, 4096, SIZE), 0);
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtPointerGetAttributes(memory, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    EXPECT(aclrtHostRegister((char *)memory + 8, 64, ACL_HOST_REGISTER_MAPPED, &mapped),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtHostRegister(memory, SIZE, ACL_HOST_REGISTER_MAPPED, &mapped));
    TRUE(mapped != NULL);
    EXPECT(aclrtHostRegisterV2(memory, 4096, ACL_HOST_REG_MAPPED),
           ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(aclrtPointerGetAttributes(memory, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtPointerGetAttributes(device, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT(attributes.location.id, 0);
    OK(aclrtMemcpyAsync(device, SIZE, memory, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtGetThreadLastTaskId(&task));
    EXPECT(task, 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtHostGetDevicePointer(memory, &mapped, 0));
    OK(aclrtHostUnregister(memory));
    EXPECT(aclrtHostUnregister(memory), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    return finish();
}
