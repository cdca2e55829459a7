// Threads that start threads, and none ends.
#include <pthread.h>
#include <unistd.h>
static void *breed(void *) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, &small, breed, nullptr)) usleep(1000);
    }
}
int main() { breed(nullptr); }
