"""All topics."""

from __future__ import annotations

from pipeline.synth.banks.topics_home import HOME_TOPICS
from pipeline.synth.banks.topics_leisure import LEISURE_TOPICS
from pipeline.synth.banks.topics_life import LIFE_TOPICS

TOPICS = (*HOME_TOPICS, *LEISURE_TOPICS, *LIFE_TOPICS)
BY_NAME = {topic.name: topic for topic in TOPICS}
