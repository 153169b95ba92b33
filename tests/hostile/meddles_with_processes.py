# Kills, signals, traces, limits and slows down whatever other process there is.
# limits: single processes=2
import fcntl
import resource
import signal


def by_descriptor(process, number):
    # Reads of a pipe that becomes ready signal whoever owns it.
    ends = os.pipe()
    for end in ends:
        fcntl.fcntl(end, fcntl.F_SETOWN, process)
        fcntl.fcntl(end, 10, number)
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(ends[1], b"x")
    os.read(ends[0], 1)
    for end in ends:
        os.close(end)


def double(x):
    room = ctypes.create_string_buffer(4096)
    piece = (ctypes.c_uint64 * 2)(ctypes.addressof(room), 4096)
    information = ctypes.create_string_buffer(128)
    few = (ctypes.c_uint64 * 2)(1, 1)
    for process in (BYSTANDER, os.getppid() or 1):  # no more than the test is ready to lose
        for number in (signal.SIGUSR1, signal.SIGSTOP, signal.SIGKILL):
            attempt(os.kill, process, number)
            attempt(os.killpg, process, number)
            call("tkill", process, int(number))
            call("tgkill", process, process, int(number))
            call("rt_sigqueueinfo", process, int(number), information)
            call("rt_tgsigqueueinfo", process, process, int(number), information)
            attempt(by_descriptor, process, int(number))
        if (handle := attempt(os.pidfd_open, process)) is not None:
            attempt(signal.pidfd_send_signal, handle, signal.SIGKILL)
            for number in range(8):
                if call("pidfd_getfd", handle, number, 0) >= 0:
                    claim("took a descriptor")
            call("process_madvise", handle, piece, 1, 8, 0)
            call("setns", handle, 0x20000)
        for request in (16, 0x4206):
            if call("ptrace", request, process, 0, 0) == 0:
                claim("traces a process")
        for address in (0x400000, 0x7FFFFFFDE000):
            if call("process_vm_readv", process, piece, 1, (ctypes.c_uint64 * 2)(address, 4096), 1, 0) > 0:
                claim("read the memory of a process")
            call("process_vm_writev", process, piece, 1, (ctypes.c_uint64 * 2)(address, 4096), 1, 0)
        for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
            attempt(resource.prlimit, process, what, (1, 1))
            call("prlimit64", process, int(what), few, 0)
        attempt(os.setpriority, os.PRIO_PROCESS, process, 19)
        attempt(os.sched_setaffinity, process, {0})
        attempt(os.sched_setscheduler, process, os.SCHED_IDLE, os.sched_param(0))
        call("ioprio_set", 1, process, 3 << 13)
        call("migrate_pages", process, 64, few, few)
        call("kcmp", os.getpid(), process, 0, 1, 1)
        for name in ("mem", "oom_score_adj", "coredump_filter", "comm", "clear_refs", "autogroup"):
            attempt(lambda: open(f"/proc/{process}/{name}", "w").write("1000"))
    return x * 2
