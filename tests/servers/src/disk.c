/* Preloaded into a process, keeps what a power loss would leave of the files in the folder IDEM_DISK: a file that is synced is copied, as
 * it is then, to the folder IDEM_LEFT, and nothing else gets there. After IDEM_SYNCS of them, if that is set, the disk lies: it says that
 * all is well, and keeps nothing more. A file that is deleted is gone at once.
 *
 * If IDEM_MOUNTS is set, that file says what is mounted where. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static const char *disk, *left;
static long honest = LONG_MAX;

__attribute__((constructor)) static void open_disk(void) {
    disk = getenv("IDEM_DISK");
    left = getenv("IDEM_LEFT");
    if (getenv("IDEM_SYNCS")) honest = atol(getenv("IDEM_SYNCS"));
}

/* The name of a file on the disk. */
static const char *on_disk(const char *path) {
    size_t length = disk && left ? strlen(disk) : 0;
    if (!length || strncmp(path, disk, length) || path[length] != '/') return NULL;
    return path + length + 1;
}

/* Whole or not at all: this process may be killed at any time. It reads from the descriptor that is there, since closing another one of the
 * same file would drop the locks that SQLite holds on it (POSIX). */
static int keep(int file, const char *name) {
    char part[PATH_MAX], whole[PATH_MAX], bytes[1 << 16];
    snprintf(whole, sizeof whole, "%s/%s", left, name);
    snprintf(part, sizeof part, "%s.%s.part", left, name);
    int copy = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (copy < 0) return -1;
    off_t at = 0;
    ssize_t length;
    while ((length = pread(file, bytes, sizeof bytes, at)) > 0) {
        if (write(copy, bytes, (size_t)length) != length) length = -1;
        if (length < 0) break;
        at += length;
    }
    int failed = length < 0;
    if (close(copy)) failed = 1;
    return failed || rename(part, whole) ? -1 : 0;
}

static int synced(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return -1;
    path[length] = 0;
    const char *name = on_disk(path);
    if (!name) return 0;
    pthread_mutex_lock(&one_at_a_time);
    int failed = honest > 0 ? keep(file, name) : 0;
    if (honest > 0) honest--;
    pthread_mutex_unlock(&one_at_a_time);
    if (failed) errno = EIO;
    return failed;
}

int fsync(int file) {
    return synced(file);
}

int fdatasync(int file) {
    return synced(file);
}

int unlink(const char *path) {
    const char *name = on_disk(path);
    if (name && honest > 0) {
        char gone[PATH_MAX];
        snprintf(gone, sizeof gone, "%s/%s", left, name);
        unlinkat(AT_FDCWD, gone, 0);
    }
    return unlinkat(AT_FDCWD, path, 0);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    const char *mounts = getenv("IDEM_MOUNTS");
    if (mounts && !strcmp(path, "/proc/self/mountinfo")) path = mounts;
    return openat64(AT_FDCWD, path, flags, mode);
}
