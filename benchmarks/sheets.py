"""What sheets cost: one as a whole command beside importing torch, which it must not do; a thousand copies for people.

    python benchmarks/sheets.py [RUNS]

The promises: one PDF in 0.7 s; a thousand copies of two pages in 20 s and 1 GiB.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_COPIES = 1000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    command = [str(Path(sys.executable).with_name("proctorch")), "sheet", "half-moved-batch"]
    with tempfile.TemporaryDirectory() as folder:
        people = Path(folder) / "people.csv"
        people.write_text("name\n" + "".join(f"Person {each}\n" for each in range(_COPIES)))
        commands = {
            "import torch": [sys.executable, "-c", "import torch"],
            "one sheet as PDF": [*command, "-o", f"{folder}/one.pdf"],
            "one sheet as HTML": [*command, "-o", f"{folder}/one.html"],
            f"{_COPIES} copies in one PDF": [*command, "-o", f"{folder}/all.pdf", "--names", str(people)],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(runs + 1):
            for name, arguments in commands.items():
                began = time.perf_counter()
                subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if turn:  # the first turn warms the file cache
                    seconds[name].append(time.perf_counter() - began)
    torch = statistics.median(seconds["import torch"])
    print(f"{'command':28} {'median s':>9} {'min':>7} {'max':>7} {'x import torch':>15}")
    for name, each in seconds.items():
        median = statistics.median(each)
        print(f"{name:28} {median:9.3f} {min(each):7.3f} {max(each):7.3f} {median / torch:15.2f}")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 << 20)
    print(f"the largest of these processes: {most:.2f} GiB")


if __name__ == "__main__":
    main()
