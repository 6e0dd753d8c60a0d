/* The main thread ends by pthread_exit; another one goes on, and ends the program. A runtime's own
 * threads would keep it alive for ever. */
#include "program.h"

static pthread_t main_thread;

static void *work(void *unused)
{
    (void)unused;
    pthread_join(main_thread, NULL);
    fill_on_new_stream(0, 5);
    printf("the last thread is done\n");
    exit(8);
}

int main(void)
{
    pthread_t thread;

    DO(aclInit(NULL));
    fill_on_new_stream(0, 5);
    main_thread = pthread_self();
    require(pthread_create(&thread, NULL, work, NULL) == 0, "a thread starts");
    pthread_detach(thread);
    pthread_exit(NULL);
}
