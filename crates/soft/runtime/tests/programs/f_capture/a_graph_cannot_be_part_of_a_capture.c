/* There are no child graphs: replay into a capturing stream is refused, and the capture goes on. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI child = end_well(stream, 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRIExecuteAsync(child, stream), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
    return finish();
}
