"""Columns of a file or of a pasted table become points."""

import numpy as np
import pytest

TOKEN = "token-of-the-tests"
TABLE = "height;weight;kind;age\n" + "".join(
    f"{150 + i % 40},5;{50 + i % 37};{'cat' if i % 3 else 'dog'};{i % 50}\n" for i in range(200)
)


def post(client, **fields):
    return client.post(f"/{TOKEN}/api/table", json=fields)


def test_pasted_table_becomes_points(client):
    described = post(client, text=TABLE).json()
    assert described["numbers"] == ["height", "weight", "age"]
    assert described["rows"] == 200
    found = post(client, **{"from": "pasted"}, first="height", second="weight", label="kind").json()
    points = np.array(found["points"] + found["test_points"])
    assert found["classes"] == ["cat", "dog"]
    assert len(found["points"]) == 140
    assert len(points) == 200
    assert set(points[:, 2]) == {-1.0, 1.0}
    np.testing.assert_allclose(np.array(found["points"])[:, :2].mean(axis=0), 0, atol=1e-3)
    state = {"data": "own", **{key: value for key, value in found.items() if key != "classes"}}
    answer = client.post(f"/{TOKEN}/api/boundary", json={"topic": "plane", "state": state}).json()
    assert answer["n_test"] == 60


def test_numbers_become_classes_at_the_median(client):
    post(client, text=TABLE)
    found = post(client, **{"from": "pasted"}, first="height", second="weight", label="age").json()
    labels = np.array(found["points"])[:, 2]
    assert abs(np.mean(labels)) < 0.3
    assert ">" in found["classes"][1]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": "a,b\nx,y\n"},
        {"text": "a,b\n1,2\n3\n"},
        {"text": "a\n1\n2\n"},
        {"from": "pasted"},
        {"from": "file", "first": "a", "second": "b", "label": "c"},
        {"path": "/etc/passwd"},
        {"text": 3},
    ],
)
def test_tables_that_do_not_work_are_refused(client, fields):
    response = post(client, **fields)
    assert response.status_code == 422
    assert "/" not in response.json()["error"].replace("mercer explore", "").replace("NA, null", "")


def test_unknown_columns_are_refused(client):
    post(client, text=TABLE)
    assert post(client, **{"from": "pasted"}, first="height", second="nothing", label="kind").status_code == 422
    assert post(client, **{"from": "pasted"}, first="height", second="kind", label="kind").status_code == 422
