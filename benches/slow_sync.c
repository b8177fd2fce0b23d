/* Preloaded into a program, makes each of its syncs take as long as IDEM_BENCH_SYNC says, in microseconds, whatever the disk does: so that
 * figures of disks can be compared between machines. Nothing is synced.
 *
 *     cc -shared -fPIC -o target/slow_sync.so benches/slow_sync.c
 *     cargo bench -p idem-benches --bench sqlite --no-run
 *     IDEM_BENCH_SYNC=1000 LD_PRELOAD=$PWD/target/slow_sync.so target/release/deps/sqlite-… --bench */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static struct timespec span;

__attribute__((constructor)) static void read_span(void) {
    const char *given = getenv("IDEM_BENCH_SYNC");
    long micros = given ? atol(given) : 1000;
    span.tv_sec = micros / 1000000;
    span.tv_nsec = micros % 1000000 * 1000;
}

static int pause_for_disk(void) {
    /* Timers are 50 microseconds late unless a thread says otherwise. */
    static __thread int exact;
    if (!exact) exact = !prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    nanosleep(&span, NULL);
    return 0;
}

int fsync(int file) {
    (void)file;
    return pause_for_disk();
}

int fdatasync(int file) {
    (void)file;
    return pause_for_disk();
}
