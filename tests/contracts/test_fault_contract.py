"""What every estimator promises about faulty rows: an answer of finite numbers, or a refusal in words."""

import pytest

from array_faults import FAULTS, FORMS, Outcome, estimators
from estimates import LONG

ESTIMATORS = estimators()
#: Of the cases of an estimator, the short form tries every 24th, and other ones for each estimator.
STEP = 1 if LONG else 24


def cases(name):
    all_cases = [(fault, form) for fault in FAULTS for form in FORMS]
    return all_cases[sorted(ESTIMATORS).index(name) % STEP :: STEP]


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_faulty_rows_give_an_answer_or_a_refusal(name, record_property):
    record_property("cases", len(cases(name)))
    found = {case: Outcome(ESTIMATORS[name], *case).wrong for case in cases(name)}
    assert {case: wrong for case, wrong in found.items() if wrong} == {}
