from datetime import datetime

import pytest

from pipeline.synth.calendar import session_times, stamp
from pipeline.synth.dice import Dice

pytestmark = pytest.mark.flash


def test_a_stamp_is_what_longmemeval_writes():
    assert stamp(datetime(2023, 5, 20, 2, 21)) == "2023/05/20 (Sat) 02:21"


@pytest.mark.parametrize("seed", range(20))
def test_session_times_ascend_in_daytime(seed):
    times = session_times(Dice(f"{seed}"), 60)
    assert len(times) == 60
    assert times == sorted(set(times))
    assert all(time.hour >= 6 for time in times)
