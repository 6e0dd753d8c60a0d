/* An event of one capture may be recorded in another one, and both stay good. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    SAY(aclmdlRICaptureBegin(s1, RELAXED), 0);
    SAY(aclmdlRICaptureBegin(s2, RELAXED), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtRecordEvent(event, s2), 0);
    end_well(s2, 1);
    EXPECT(status_of(s1), ACTIVE);
    end_well(s1, 1);
    return finish();
}
