# Makes, by their numbers, the system calls that have broken out of sandboxes before.
# limits: single processes=2
_FORBIDDEN = """
unshare=0x10000000 unshare=0x20000 unshare=0x40000000 setns=0,0 mount=0,0,0,0,0 umount2=0,0 open_tree=-1,0,0 move_mount=-1,0,-1,0,0
fsopen=0,0 fsconfig=-1,0,0,0,0 fsmount=-1,0,0 fspick=-1,0,0 mount_setattr=-1,0,0,0,0 pivot_root=0,0 chroot=0 add_key=0,0,0,0,0
request_key=0,0,0,0 keyctl=0,0,0,0,0 userfaultfd=0 io_uring_setup=1,0 io_uring_enter=-1,0,0,0,0,0 io_uring_register=-1,0,0,0 bpf=0,0,0
perf_event_open=0,0,-1,-1,0 personality=0x0040000 name_to_handle_at=-1,0,0,0,0 open_by_handle_at=-1,0,0 kexec_load=0,0,0,0
kexec_file_load=-1,-1,0,0,0 init_module=0,0,0 finit_module=-1,0,0 delete_module=0,0 reboot=0,0,0,0 swapon=0,0 swapoff=0 acct=0
quotactl=0,0,0,0 quotactl_fd=-1,0,0,0 settimeofday=0,0 clock_settime=0,0 clock_adjtime=0,0 adjtimex=0 sethostname=0,0 setdomainname=0,0
syslog=3,0,0 vmsplice=-1,0,0,0 splice=-1,0,-1,0,0,0 tee=-1,-1,0,0 fanotify_init=0,0 fanotify_mark=-1,0,0,-1,0 inotify_init1=0
memfd_create=0,0 memfd_secret=0 process_madvise=-1,0,0,0,0 process_mrelease=-1,0 pidfd_getfd=-1,0,0 process_vm_readv=0,0,0,0,0,0
process_vm_writev=0,0,0,0,0,0 ptrace=0,0,0,0 kcmp=0,0,0,0,0 landlock_create_ruleset=0,0,0 seccomp=0,0,0 timer_create=0,0,0
execve=0,0,0 execveat=-1,0,0,0,0 shmget=0,4096,0x200 shmat=0,0,0 semget=0,1,0x200 msgget=0,0x200 mq_open=0,0,0,0
setrlimit=0,0 capset=0,0 setuid=0 setgid=0 setresuid=0,0,0 setgroups=0,0 setfsuid=0 mlockall=1 mlock=0,4096 mbind=0,0,0,0,0,0 set_mempolicy=0,0,0
migrate_pages=0,0,0,0 move_pages=0,0,0,0,0,0 sched_setscheduler=0,0,0 sched_setattr=0,0,0 setpriority=0,0,0 ioprio_set=0,0,0
modify_ldt=0,0,0 iopl=3 ioperm=0,1,1 remap_file_pages=0,0,0,0,0 lookup_dcookie=0,0,0 uselib=0 vhangup= ustat=0,0 sysfs=0,0,0
nfsservctl=0,0,0 rt_sigqueueinfo=0,0,0 rt_tgsigqueueinfo=0,0,0,0 signalfd4=-1,0,0,0 timerfd_create=0,0 pkey_mprotect=0,0,0,-1
lsm_set_self_attr=0,0,0,0 set_mempolicy_home_node=0,0,0,0 map_shadow_stack=0,0,0 cachestat=-1,0,0,0 mseal=0,0,0 io_setup=1,0
"""
_SILENT = (1, 38, 95)  # EPERM, ENOSYS, ENOTSUP


def double(x):
    for each in _FORBIDDEN.split():
        name, _, arguments = each.partition("=")
        if name not in NUMBERS:
            continue
        result = call(name, *(int(part, 0) for part in arguments.split(",") if part))
        if -result not in _SILENT:
            claim(f"{name} is answered with {result}")
    for option in range(1, 80):
        if option not in (15, 16) and libc.prctl(option, 0, 0, 0, 0) == 0:
            claim(f"prctl {option}")
    for kind in (2, 10, 16, 17, 29, 38, 40):
        if call("socket", kind, 3, 0) >= 0:
            claim(f"a socket of family {kind}")
    for request in (0x5412, 0x541D, 0x5402, 0x8902, 0x5405, 0x40046F05, 0xC0185879, 0x9409):
        for number in range(6):
            if call("ioctl", number, request, b"x" * 64) >= 0:
                claim(f"ioctl {request:#x}")
    for number in range(548, 1100):
        if libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0) >= 0:
            claim(f"number {number} is answered")
    return x * 2
