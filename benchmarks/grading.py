"""What grading costs beside what it cannot avoid: importing torch. Ratios of medians, all commands in turn in one run.

    python benchmarks/grading.py [RUNS]

The promises: `list` in 0.3 s without torch; one graded file at most 2 x `import torch`; each further job at most 60 ms.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_JOBS = 20
_QUESTIONS = {"pick-device": "accepted", "first-autocast-step": "accepted"}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    root = Path(__file__).resolve().parents[1]
    command = [str(Path(sys.executable).with_name("proctorch"))]
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "import torch": [sys.executable, "-c", "import torch"],
            "import torch, make an optimizer": [sys.executable, "-c", _OPTIMIZER],
            "list": [*command, "list"],
        }
        for name, verdict in _QUESTIONS.items():
            [solutions] = root.glob(f"solutions/*/{name}/{verdict}")
            source = min(solutions.glob("*.py"))
            files = [str(shutil.copy(source, Path(folder) / f"{name}-{number}.py")) for number in range(_JOBS + 1)]
            commands[f"grade {name}"] = [*command, "grade", "--question", name, "--device", "cpu", files[0]]
            commands[f"grade {name}, {_JOBS} more"] = [*command, "grade", "--question", name, "--device", "cpu", *files]
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(runs + 1):
            for name, arguments in commands.items():
                began = time.perf_counter()
                subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
                if turn:  # the first turn warms the file cache
                    seconds[name].append(time.perf_counter() - began)
    median = {name: statistics.median(each) for name, each in seconds.items()}
    torch = median["import torch"]
    print(f"{'command':40} {'median s':>9} {'min':>7} {'max':>7} {'x import torch':>15}")
    for name, each in seconds.items():
        print(f"{name:40} {median[name]:9.3f} {min(each):7.3f} {max(each):7.3f} {median[name] / torch:15.2f}")
    for name in _QUESTIONS:
        more = (median[f"grade {name}, {_JOBS} more"] - median[f"grade {name}"]) / _JOBS
        print(f"each further job of {name}: {more * 1000:.0f} ms")


_OPTIMIZER = "import torch; torch.optim.SGD([torch.nn.Parameter(torch.ones(1))])"

if __name__ == "__main__":
    main()
