"""Memory, Ray and GPUs of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cluster.rayenv import OBJECT_STORE_BYTES
from jobs.doctor.check import Found

RAY_LIMIT_S = 60.0
_GB_A_WORKER = 1.0
"""A worker that held all-MiniLM-L6-v2 had 0.88 GB resident (2 cores, one thread)."""

_LAST_LINE = 300


def memory() -> Found:
    """Free memory against that of a worker on each CPU, and the shared memory that Ray's objects lie in."""
    cpus = os.cpu_count() or 1
    free = _free_memory()
    shared = shutil.disk_usage("/dev/shm").free if Path("/dev/shm").is_dir() else None
    said = f"{_gb(free)} free for {cpus} CPUs" + (f", {_gb(shared)} in /dev/shm" if shared is not None else "")
    if shared is not None and shared < OBJECT_STORE_BYTES:
        megabytes = OBJECT_STORE_BYTES // 2**20
        return Found("warning", said, f"Ray wants {megabytes} MB in /dev/shm, or it is slow: docker run --shm-size=1g")
    if free < cpus * _GB_A_WORKER * 1e9:
        fits = max(1, int(free / 1e9 / _GB_A_WORKER))
        return Found(
            "warning",
            said,
            f"reckon with {_GB_A_WORKER:g} GB for a worker that holds a small model: give --workers {fits}",
        )
    return Found("ok", said)


def ray(limit_s: float = RAY_LIMIT_S) -> Found:
    """Starts a Ray of this machine's own in another process, and has it work off one task."""
    began = time.monotonic()
    program = [sys.executable, "-P", "-m", "jobs.doctor.ray_probe"]
    # Into a file: Ray's own processes hold a pipe open when the first one has ended.
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(program, stdout=said, stderr=said, start_new_session=True)
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            to_do = "look for a full /tmp or a firewall on loopback; on a busy machine try again, or give --address"
            return Found("fails", f"a local Ray did not work off a task within {limit_s:.0f} s", to_do)
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    if code:
        last = lines[-1][:_LAST_LINE] if lines else f"exit code {code}"
        return Found("fails", f"a local Ray does not work: {last}", "mend what it says, or give run --address")
    return Found("ok", f"a local Ray worked off a task in {time.monotonic() - began:.0f} s")


def gpus() -> Found:
    """The GPUs, and whether the installed torch can use them. None is fine: then vectors are made on CPUs."""
    if not Path("/dev/nvidiactl").exists() and shutil.which("nvidia-smi") is None:
        return Found("ok", "none: models run on CPUs")
    from torch import cuda  # noqa: PLC0415 - seconds, and for nothing without a GPU

    if cuda.is_available():
        names = [cuda.get_device_name(index) for index in range(cuda.device_count())]
        return Found("ok", ", ".join(names))
    return Found(
        "warning", "a GPU is here, and this torch cannot use it", "install a CUDA build of torch that fits the driver"
    )


def _free_memory() -> int:
    """Bytes that may be taken: what is available, within the container's limit where there is one."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except OSError:
        return free
    return free if limit == "max" else min(free, max(0, int(limit) - used))


def _gb(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
