/* A replay would allocate again: pools are refused on capturing streams. */
#include "../capture.h"
#include <acl/acl_rt_memory_soma.h>

int main(void)
{
    aclrtMemPool pool;
    aclrtMemPoolProps props;
    void *memory = NULL, *other = NULL;
    start();
    aclrtStream stream = new_stream();
    memset(&props, 0, sizeof props);
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolMallocAsync(&memory, 64, pool, stream));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemPoolMallocAsync(&other, 64, pool, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtMemPoolFreeAsync(memory, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    end_well(stream, 0);
    return finish();
}
