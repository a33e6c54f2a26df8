"""
Stems and stop words
====================

A bag of words has one column per word form, so "sail", "sails" and "sailing" share nothing, and the most frequent
columns are "the" and "and". Stems join the forms of a word; stop words leave out the ones that carry no topic; and
weights by document frequency do the same more gently. This example shows what each of the three does to a small
collection.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import LogisticClassifier, TextFeatures

rng = np.random.default_rng(0)
FORMS = {
    "sea": "sail sails sailed sailing ship ships shipping harbor harbors anchor anchored anchoring wave waves",
    "kitchen": "cook cooks cooked cooking bake bakes baked baking spice spices spiced pan pans boil boils boiling",
}
FILLERS = 3 * ["the"] + 2 * ["and", "of", "to", "a"] + ["in", "is", "it", "was", "for", "on", "with", "that", "as"]


def message(topic):
    words = [rng.choice(FORMS[topic].split()) if rng.random() < 0.22 else rng.choice(FILLERS) for _ in range(9)]
    return " ".join(words)


def collection(n):
    topics = rng.choice(list(FORMS), n)
    return [message(topic) for topic in topics], topics


# %%
# One document, three bags
# ------------------------
# The same document with every word, with stems, and with stems and without stop words.

documents, topics = collection(60)
new, new_topics = collection(1000)
BAGS = {
    "all words": {},
    "stems": {"stem": "english"},
    "stop words removed": {"stop_words": "english"},
    "stems, stop words removed": {"stem": "english", "stop_words": "english"},
}
print(documents[0])
for name, options in BAGS.items():
    bag = TextFeatures((1, 1), weighting="count", **options).fit(documents)
    print(f"{name:<26} {len(bag.vocabulary_):>3} columns: {' '.join(bag.get_feature_names_out()[:9])} ...")

# %%
# Which words weigh most
# ----------------------
# Counts of all words are dominated by "the", "and" and "to". Weights by document frequency level them, but every
# second word is still one. Stop words remove them, and stems put the forms of a word into one column.

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
VIEWS = {
    "counts": {"weighting": "count"},
    "tf-idf": {"weighting": "tfidf"},
    "tf-idf, stems, no stop words": {"weighting": "tfidf", "stem": "english", "stop_words": "english"},
}
for ax, (name, options) in zip(axes, VIEWS.items(), strict=True):
    bag = TextFeatures((1, 1), **options).fit(documents)
    mass = np.asarray(bag.transform(documents).sum(axis=0)).ravel()
    top = np.argsort(-mass)[:12][::-1]
    ax.barh(bag.get_feature_names_out()[top], mass[top] / mass.sum(), color="#1763b6")
    ax.set(title=name, xlabel="fraction of all weight")

# %%
# What it is worth
# ----------------
# Few documents, new word forms: a stem that was seen in one form helps with the others. With hundreds of documents
# every form has been seen, and the four bags agree.

sizes = (10, 20, 40, 80, 160, 640)
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, options in BAGS.items():
    scores = []
    for size in sizes:
        repeats = []
        for _ in range(3):
            some, labels = collection(size)
            bag = TextFeatures((1, 1), **options).fit(some)
            model = LogisticClassifier(alpha=0.05).fit(bag.transform(some), labels)
            repeats.append(model.score(bag.transform(new), new_topics))
        scores.append(np.mean(repeats))
    ax.semilogx(sizes, scores, "o-", label=name)
ax.set(xlabel="training documents", ylabel="accuracy on new documents")
ax.set_title("Stems and stop words help while documents are few")
ax.legend()
plt.show()
