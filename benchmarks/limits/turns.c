/* Workers that burn CPU in turns and count them where another process can look: turns COUNTS WORKERS WAIT ITERATIONS
 *
 * WAIT is none (each worker turns for itself), asleep or spinning: a turn's ITERATIONS are shared out among the workers,
 * who wait for each other at its end. COUNTS is a file of 64 bytes a worker; the first 8 of each hold its turns. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int workers;
static long share;
static const char *wait_for_others;
static _Atomic uint64_t *counts;
static pthread_barrier_t barrier;
static atomic_int arrived, generation;

static void meet(void)
{
    if (!strcmp(wait_for_others, "asleep")) {
        pthread_barrier_wait(&barrier);
    } else if (!strcmp(wait_for_others, "spinning")) {
        int mine = atomic_load(&generation);
        if (atomic_fetch_add(&arrived, 1) == workers - 1) {
            atomic_store(&arrived, 0);
            atomic_fetch_add(&generation, 1);
        }
        while (atomic_load(&generation) == mine)
            ;
    }
}

static void *turn(void *which)
{
    int together = strcmp(wait_for_others, "none");
    uint64_t state = 1;
    volatile uint64_t sink;
    for (;;) {
        for (long i = 0; i < share; i++)
            state = state * 6364136223846793005u + 1442695040888963407u;
        sink = state;
        if (together)
            meet();
        if (!together || which == 0)
            atomic_fetch_add(&counts[8 * (intptr_t)which], 1);
    }
    return (void *)(uintptr_t)sink;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    workers = atoi(argv[2]);
    wait_for_others = argv[3];
    share = atol(argv[4]) / (strcmp(wait_for_others, "none") ? workers : 1);
    int file = open(argv[1], O_RDWR);
    counts = mmap(0, 64 * workers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || counts == MAP_FAILED) {
        perror(argv[1]);
        return 1;
    }
    pthread_barrier_init(&barrier, 0, workers);
    for (intptr_t worker = 1; worker < workers; worker++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, turn, (void *)worker))
            return 1;
    }
    turn(0);
}
