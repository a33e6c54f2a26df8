"""
Spam in short messages
======================

Messages are generated from two small grammars, one of friends and one of advertisers, with spelling mistakes. A bag of
words ignores unseen words; n-grams of characters recognize parts of a misspelled "fr3e priize". Hashed features need no
vocabulary, but lose accuracy if the buckets are too few.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.linear import HingeClassifier
from mercer.text import TextFeatures

rng = np.random.default_rng(0)
FRIENDS = {
    "start": ["hey", "hi", "ok", "so", "well", "sorry"],
    "middle": ["see you at the station", "call me when you are free", "are you home", "bring the prize essay", "I won"],
    "end": ["tonight", "tomorrow", "love", "bye", "in an hour", "at nine"],
}
ADVERTISERS = {
    "start": ["urgent", "congratulations", "winner", "dear customer", "final notice"],
    "middle": ["claim your free prize", "call this number now", "you won a cash award", "text win to enter"],
    "end": ["today only", "terms apply", "reply stop", "guaranteed", "do not miss it"],
}


def misspelled(message, probability):
    """Letters doubled, dropped or replaced by digits that look like them."""
    similar = {"e": "3", "i": "1", "o": "0", "a": "4"}
    letters = []
    for letter in message:
        if rng.random() < probability and letter != " ":
            letter = rng.choice([letter * 2, "", similar.get(letter, letter.upper())])
        letters.append(letter)
    return "".join(letters)


def messages(n, probability):
    spam = rng.random(n) < 0.3
    texts = [" ".join(rng.choice(part) for part in (ADVERTISERS if s else FRIENDS).values()) for s in spam]
    return [misspelled(text, probability) for text in texts], np.where(spam, "spam", "ham")


train, y = messages(300, probability=0.1)
test, truth = messages(2000, probability=0.5)
print(*test[:3], sep="\n")

sizes = 2 ** np.arange(3, 15)
features = {"words": {"ngram_range": (1, 2)}, "characters": {"ngram_range": (2, 4), "analyzer": "char_wb"}}
figure, axes = plt.subplots()
for name, how in features.items():
    scores = []
    for m in sizes:
        text = TextFeatures(**how, n_buckets=int(m), weighting="log", norm="l2").fit(train)
        model = HingeClassifier(alpha=0.1).fit(text.transform(train), y)
        scores.append(model.score(text.transform(test), truth))
    line = axes.plot(sizes, scores, marker="o", label=f"{name}, hashed")[0]
    text = TextFeatures(**how).fit(train)
    model = HingeClassifier(alpha=0.1).fit(text.transform(train), y)
    score = model.score(text.transform(test), truth)
    axes.axhline(score, color=line.get_color(), linestyle=":", label=f"{name}, vocabulary of {len(text.idf_)}")
    heavy = np.argsort(model.coef_[0])
    print(f"{name}: accuracy {score:.3f}; strongest signs of spam: {text.get_feature_names_out()[heavy[-4:]].tolist()}")
axes.set(xscale="log", xlabel="buckets", ylabel="accuracy on misspelled messages")
axes.set_title("Characters survive misspellings better than words")
axes.legend()
