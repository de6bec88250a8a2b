from benchmarks.held_out import count_patterns, derive, draw, find_easy_share, shorten


def test_one_sibling_fact_is_left_out_at_a_time() -> None:
    assert list(shorten(("sibling", "SO", "sibling"))) == [("SO", "sibling"), ("sibling", "SO")]
    assert list(shorten(("child", "SO", "child"))) == []


def test_the_test_has_a_fifth_of_the_patterns_and_no_new_step() -> None:
    made = draw(1)
    test, every, known = count_patterns(made)
    assert (test, every) == (12, 57)
    assert known == test
    assert find_easy_share(made) == 0.45


def test_a_pattern_is_derived_from_either_end() -> None:
    made = draw(1)
    found = list(derive(made, ("sibling", "sibling", "SO")))
    assert {("sibling", "sibling"), ("sibling", "SO")} in found
