"""promptreg compare against a target that answers HTTP 200 without an answer: nothing is said to be free of faults."""

from __future__ import annotations


def test_calls_without_an_answer_prove_no_fault_absent(pair_of):
    pair = pair_of(target={"seed": 1, "faults": ["gateway_page_200"]})
    pair.record()
    done = pair.run("compare", "--looks", "3")
    told = " ".join(done.stdout.split())
    assert done.exit_code == 4
    assert "F42" in told
    assert "kind of serving fault was seen in" not in told
    _, said = pair.compare("--looks", "3")
    (suite,) = said["suites"]
    assert (suite["fault_calls"], suite["unseen_below"]) == (0, None)
