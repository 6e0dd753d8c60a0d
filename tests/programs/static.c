/* A program without the loader's help: nothing can be loaded into it. It is never run. */
int main(void)
{
    for (;;) {
    }
}
