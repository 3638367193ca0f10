"""What each judge does not measure, said beside its readings."""

LIMITS = {
    "state": (
        "How anything looks: it reads positions, life and fields, never a picture.",
        "Whether another future would have been possible: where chance decides, a legal future "
        "that differs from the true one costs as much as a wrong one. The stochastic ceiling "
        "says how much that is.",
        "Which error hurts: every mutable slot counts alike, a ball as much as a brick.",
        "Anything beyond the last horizon shown, or between the windows drawn.",
    ),
    "vqa": (
        "What no question asks: only the action and the character are asked about.",
        "Clips whose action shows no visible effect; they are dropped and counted.",
        "The character's identity where states are drawn: the drawing keeps it, whatever the model "
        "does.",
        "What goes wrong while an action lasts less than a clip: held actions alone are asked.",
        "What its certificate shows it not to see; a reading is corrected for it, not healed.",
    ),
    "physics": (
        "What does not move: videos with too little motion are not scored, so that freezing gains "
        "nothing.",
        "What is unlike anything its heads were trained on: those videos are not scored either.",
        "Whether the action was obeyed, or whether the video is the one that was asked for.",
        "Which law was broken: the score says how badly, the curve when.",
        "What its certificate lists as unseen.",
    ),
}
"""By judge; a judge that is not listed says nothing of its own."""

QUESTIONS = {
    "state": "Does the imagined state stay close to the true one?",
    "vqa": "Was the action carried out, is the character still itself?",
    "physics": "How badly is physics violated?",
}
