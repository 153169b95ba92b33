"""How much memory a job has that is its own, seen from the fork server. Linux only; elsewhere 0."""

import os
import resource

_PAGE = resource.getpagesize()


def of_tree(process: int) -> int:
    """Bytes of a process and its descendants, each beyond what it may still share with this process, its origin."""
    shared = _anonymous(os.getpid())
    return sum(max(0, _anonymous(each) - shared) for each in _tree(process))


def _tree(process: int) -> list[int]:
    found = [process]
    for each in found:  # grows while it is walked
        try:
            for task in os.listdir(f"/proc/{each}/task"):  # noqa: PTH208 - every few milliseconds
                with open(f"/proc/{each}/task/{task}/children", encoding="ascii") as children:  # noqa: PTH123 - as above
                    found += map(int, children.read().split())
        except OSError:  # it has just ended
            continue
    return found


def _anonymous(process: int) -> int:
    """Bytes that are no file's and no shared memory's."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as statm:  # noqa: PTH123 - as above
            _, resident, of_files = map(int, statm.read().split()[:3])
    except (OSError, ValueError):
        return 0
    return (resident - of_files) * _PAGE
