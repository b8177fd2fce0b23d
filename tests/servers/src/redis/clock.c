/* Preloaded into a server, lets a test set its clock: the wall clock is as many seconds off as the file IDEM_CLOCK says, from one
 * reading to the next. (libfaketime is too late for a server whose allocator reads the clock while it is being loaded.) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("IDEM_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) offset = page;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset;
    return failed;
}

int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (seconds) *seconds = now.tv_sec;
    return now.tv_sec;
}
