# Signals all that it may at once: with such signals as do no harm to whoever does not wait for them.
# limits: single processes=2
import signal


def double(x):
    for number in (signal.SIGWINCH, signal.SIGCONT, signal.SIGURG):
        attempt(os.kill, -1, number)
        attempt(os.killpg, os.getpgid(os.getppid()) if os.getppid() else 0, number)
        call("kill", -1, int(number))
        call("tkill", BYSTANDER, int(number))
    return x * 2
