/* A stream may come back to the origin although it came from another one. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent to2 = new_event(), to3 = new_event(), back2 = new_event(), back3 = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, to2, s2);
    wait_for(s2, to3, s3);
    wait_for(s3, back3, s1);
    wait_for(s2, back2, s1);
    end_well(s1, 8);
    return finish();
}
