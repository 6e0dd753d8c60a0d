/* GetInfo answers at any time, for origin and side streams, and names the same graph. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    aclmdlRICaptureStatus status;
    aclmdlRI first = NULL, second = s1, ended;
    SAY(aclmdlRICaptureGetInfo(s1, &status, &second), 0);
    EXPECT(status, NONE);
    TRUE(second == NULL);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclmdlRICaptureGetInfo(s1, &status, &first), 0);
    EXPECT(status, ACTIVE);
    wait_for(s1, fork, s2);
    SAY(aclmdlRICaptureGetInfo(s2, NULL, &second), 0);
    TRUE(first != NULL && first == second);
    SAY(aclmdlRICaptureGetInfo(s2, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureGetInfo(NULL, &status, NULL), ACL_ERROR_INVALID_PARAM);
    wait_for(s2, join, s1);
    SAY(aclmdlRICaptureEnd(s1, &ended), 0);
    TRUE(ended == first);
    return finish();
}
