"""How user and assistant talk, whatever the topic: templates over {thing}, {other}, {deed}, {deed2}, {topic}, {n}."""

from __future__ import annotations

ASKS = (
    "(Can|Could) you (help me|give me some advice) with (my|the) {thing}?",
    "What (would you do|do you suggest) about {a thing} (when time is short|if money is tight|for a beginner|)?",
    "How do I {deed} (without making a mess|properly|) when there is also {a other} to think about?",
    "Is it (better|smarter) to {deed} or to {deed2} first?",
    "Do I (really|actually) need {a thing}, or is {a other} enough?",
    "How (often|long) should I {deed}?",
    "(Any|Do you have any) (tips|ideas|pointers) on {topic} for someone (like me|with little time|who starts late)?",
    "What is the (most common|worst) mistake people make with {a thing}?",
    "Which matters more (in the long run|at the start), {the thing} or {the other}?",
    "Could you (write|draft|sketch) me a (short|simple|weekly) plan for {topic}?",
    "Why does everybody say that you must {deed}?",
    "What comes after {the thing}? Should I {deed}?",
    "Explain {thing} to me as if I were ten.",
    "Give me {n} reasons to {deed}.",
)

FOLLOW_UPS = (
    "(Okay|Alright|Right), (that makes sense|I see|that helps).",
    "(Thanks|Thank you), (that is useful|I had not thought of that|very clear).",
    "Hmm, I am not (sure|convinced) about the {thing} (part|bit).",
    "(Could|Can) you (go into|expand on) the point about {the other} (a bit|)?",
    "I tried to {deed} (once|before) and (gave up|it went badly|it was fine, honestly).",
    "And (what|how) about {the thing}?",
    "(Let's|Let us) go back to {the other} for a moment.",
    "Make it shorter, please.",
    "(Great|Perfect|Lovely), I will {deed} (tonight|this weekend|tomorrow) then.",
    "So, to be clear, I {deed} first and then I {deed2}?",
)

CONTEXT = (
    "For (context|background), I have been (into|busy with) {topic} for {n} (weeks|months|years) (now|).",
    "I (mostly|usually) {deed}, but (not always|lately I do not|only when I remember).",
    "(At the moment|Right now) I only have {a thing} and {a other}.",
    "I read somewhere that you should {deed}, (but I have my doubts|or so they say).",
    "My {thing} is (on its last legs|brand new|borrowed|fine, I think).",
    "I do not (mind|care) about {the other} (that much|at all).",
    "It is (mainly|really) {the thing} that I (struggle|wrestle) with.",
    "I have about {n} (minutes|hours) (a day|a week|) for this.",
    "To be honest, {topic} (was|has been) on my list for ages.",
    "There are {n} of us (in the house|involved|), so {the thing} matters.",
)

ASSISTANT_OPENERS = (
    "(Great|Good|Fair) question!",
    "(Happy|Glad) to help.",
    "(Sure|Certainly|Of course), (let's look at {the thing}|here are some thoughts|let me break it down).",
    "That is a (common|very understandable) (worry|question) in {topic}.",
    "It (depends|depends a little) on {the other}, but (in general|as a rule) there is a clear answer.",
    "Thanks for the (details|context), that helps.",
    "I (understand|hear you), {the thing} can be (tricky|frustrating|confusing).",
    "(You're right|That's right) to ask about that.",
)

ADVICE = (
    "(Start|Begin) with {the thing}, then {deed}.",
    "(Try to|I would) {deed} before you (touch|worry about|change) {the other}.",
    "(Most|Many) people (overlook|underestimate) {the thing}, yet it (pays|is worth the trouble) to {deed}.",
    "If {the other} (gives you trouble|is a concern), {deed} and (wait a week|see what changes|note the result).",
    "{a thing} is (useful|nice to have), but {a other} (does more|matters more) in practice.",
    "It is (rarely|seldom) necessary to {deed} more than {n} times.",
    "You can {deed} (while|and in the meantime) {the other} (rests|waits).",
    "(Think of|Treat) {the thing} as (an investment|a habit|an experiment) rather than (a chore|a cost).",
    "A (good|simple) rule (of thumb|) is to {deed} (first|once a week|whenever you can), and {deed2} later.",
    "(Keep|Have) {a thing} (within reach|at hand) so that you can {deed} without a fuss.",
    "With {topic}, (patience|consistency) (beats|matters more than) {the thing}.",
    "(Do not|Don't) be discouraged if {the other} (takes longer|does not work at once).",
    "(Professionals|Experienced people) {deed} (almost|) without thinking.",
    "(Compare|Weigh) {the thing} against {the other}: the first costs (time|money), the second (attention|space).",
    "That way {the thing} and {the other} (support|do not get in the way of) each other.",
    "About {n} minutes (are|will be) enough to {deed}.",
)

LIST_HEADS = (
    "Here are (some|a few) (points|steps|ideas) (for {topic}|):",
    "A (possible|simple) (plan|checklist) (could look like this|):",
    "(Things|What) to keep in mind:",
)

ASSISTANT_CLOSERS = (
    "(Would you like|Do you want) (more detail on {the thing}|an example|a shopping list)?",
    "(Let me know|Tell me) how it goes (with {the thing}|)!",
    "(Does|Would) that fit your situation?",
    "(Enjoy|Good luck), and do not forget to {deed}.",
    "How (do you handle|are things with) {the other} (so far|)?",
)

CODE = (
    "```python\ndef total(items):\n    # items: list of (name, amount)\n    return sum(amount for _, amount in items)\n```",
    '```bash\nfor f in *.txt; do\n  wc -w "$f"\ndone | sort -n\n```',
    "```\n| day | plan        | minutes |\n|-----|-------------|---------|\n| Mon | {deed} | {n}0 |\n| Thu | {deed2} | {n}5 |\n```",
    '```json\n{"topic": "{topic}", "step": "{deed}", "times": {n}}\n```',
)

OTHER_SCRIPTS = (
    "😅🙏",
    "🎉🎉",
    "谢谢你,这很有帮助。",
    "ありがとう、助かりました!",
    "Спасибо большое!",
    "شكرا جزيلا",
    "¿Y eso cómo se dice en español?",
    "Merci beaucoup, c'est très gentil — à bientôt !",
    "ขอบคุณมาก",
    "👩🏽‍🍳 voilà",
)
