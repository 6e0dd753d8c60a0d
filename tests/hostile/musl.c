// Built for another C library than the tracer's: what is preloaded into it must not keep it from starting.
#include <stdio.h>

int main(int argc, char **argv) {
    (void)argv;
    printf("%d arguments\n", argc - 1);
    return 9;
}
