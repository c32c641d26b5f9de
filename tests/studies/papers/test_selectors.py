from netbandit.studies.papers.selectors import selector_text


def test_what_a_comparison_is_of():
    assert selector_text({"series": "star", "run.horizon": 10000}, {"series": "ring", "run.horizon": 10000}) == (
        "star against ring, horizon 10,000"
    )
    assert selector_text({"learner.epsilon": 0.3}, None) == "epsilon 0.3"
    assert selector_text({}, None) == "all runs"
