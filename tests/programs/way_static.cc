// A static object of C++ works before main and after it.
#include "acl/acl.h"
#include <cstdio>

namespace {

struct Session {
    aclrtStream stream = nullptr;
    void *buffer = nullptr;

    Session()
    {
        aclInit(nullptr);
        aclrtSetDevice(1);
        aclrtCreateStream(&stream);
        aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_NORMAL_ONLY);
        aclrtMemsetAsync(buffer, 4096, 1, 100, stream);
    }

    ~Session()
    {
        aclrtMemsetAsync(buffer, 4096, 3, 300, stream);
        aclrtSynchronizeStream(stream);
        std::printf("no place for a device: %d\n", static_cast<int>(aclrtGetDevice(nullptr)));
        aclrtFree(buffer);
        aclrtDestroyStream(stream);
        aclrtResetDevice(1);
        aclFinalize();
        std::fflush(stdout);
    }
};

Session session;

} // namespace

int main()
{
    aclrtMemsetAsync(session.buffer, 4096, 2, 200, session.stream);
    return 0;
}
