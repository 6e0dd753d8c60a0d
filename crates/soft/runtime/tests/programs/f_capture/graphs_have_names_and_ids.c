/* A name that the program gives, and a number that no other graph has. */
#include "../capture.h"

int main(void)
{
    char name[8] = "?";
    uint32_t first = 9, second = 9;
    start();
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI a = end_well(stream, 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI b = end_well(stream, 0);
    SAY(aclmdlRIGetId(a, &first), 0);
    SAY(aclmdlRIGetId(b, &second), 0);
    EXPECT(first, 0);
    EXPECT(second, 1);
    SAY(aclmdlRIGetName(a, sizeof name, name), 0);
    EXPECT(strcmp(name, ""), 0);
    SAY(aclmdlRISetName(a, "decode"), 0);
    SAY(aclmdlRIGetName(a, sizeof name, name), 0);
    EXPECT(strcmp(name, "decode"), 0);
    SAY(aclmdlRIGetName(a, 6, name), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclmdlRISetName(a, NULL), ACL_ERROR_INVALID_PARAM);
    return finish();
}
