// Runs a program that the kernel ends with SIGSYS as soon as it creates a socket, other than a local (AF_UNIX) one.
//
// Usage: socket-denial PROGRAM [ARGUMENT …]
// The status is that of the program; 125 if the system has no seccomp filters, 127 if the program cannot be started.

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static int deny_sockets(void) {
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
        // The lower half of the first argument; the machines that this supports are little-endian.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {
        .len = sizeof(instructions) / sizeof(instructions[0]),
        .filter = instructions,
    };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
#else
static int deny_sockets(void) {
    errno = ENOSYS;
    return -1;
}
#endif

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: socket-denial PROGRAM [ARGUMENT ...]\n");
        return 64;
    }
    if (deny_sockets() != 0) {
        fprintf(stderr, "socket-denial: seccomp filters are not supported: %s\n", strerror(errno));
        return 125;
    }
    execvp(arguments[1], arguments + 1);
    fprintf(stderr, "socket-denial: %s: %s\n", arguments[1], strerror(errno));
    return 127;
}
