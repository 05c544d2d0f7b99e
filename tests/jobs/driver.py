"""`slatemill`, which leaves the peak of its own memory in a file: `driver.py PEAK_FILE ARGUMENTS...`."""

from __future__ import annotations

import atexit
import sys
from pathlib import Path

from jobs.cli import main


def tell(target: Path) -> None:
    """Writes the peak in kB. Not getrusage's: that maximum begins with what the parent held when it forked."""
    lines = Path("/proc/self/status").read_text().splitlines()
    target.write_text(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))


if __name__ == "__main__":
    atexit.register(tell, Path(sys.argv.pop(1)))
    main()
