import pytest

from pipeline.synth.dice import Dice
from pipeline.synth.telling import ASSISTANT, USER, second_person, tell

pytestmark = pytest.mark.flash


def test_the_assistant_repeats_the_users_words_in_the_second_person():
    assert second_person("I am glad that my sister saw us") == "you are glad that your sister saw you"
    assert second_person("imagine mine") == "imagine mine"


@pytest.mark.parametrize("role", [USER, ASSISTANT])
def test_a_statement_holds_its_fact_whatever_the_frame(role):
    dice = Dice("frames")
    for _ in range(50):
        statement = tell(dice, "the boiler failed at Quill Works", role, ["cooking"])
        assert "boiler failed at Quill Works" in statement.text
        assert statement.role == role
