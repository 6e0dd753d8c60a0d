/* Linked to AscendCL, but never calls it. */
#include "program.h"

int main(int count, char **words)
{
    if (count > 9) {
        aclInit(words[0]);
    }
    return 11;
}
