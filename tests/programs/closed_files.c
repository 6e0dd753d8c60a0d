/* Closes every file that it did not open, as daemons do, and clears its environment. */
#include "program.h"

int main(void)
{
    for (int file = 3; file < 1024; file++) {
        close(file);
    }
    clearenv();
    DO(aclInit(NULL));
    fill_on_new_stream(0, 3);
    for (int file = 3; file < 1024; file++) {
        close(file);
    }
    fill_on_new_stream(1, 3);
    printf("done\n");
    return 0;
}
