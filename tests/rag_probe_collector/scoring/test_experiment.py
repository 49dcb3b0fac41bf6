"""One experiment, one result per case and repetition (checklist 51 to 53, contracts 5)."""

from __future__ import annotations

import pytest

from rag_probe.stages import CaseTags
from rag_probe_collector.errors import InputError
from rag_probe_collector.scoring.experiment import check_run, choose_run
from tests.rag_probe_collector.scoring.build import case, path

Q = case("a", "a")


def tagged(experiment=None, case_id="q", repetition=None, path_id="t:s"):
    return path(path_id=path_id, tags=CaseTags(experiment=experiment, case_id=case_id, repetition=repetition))


def test_the_only_experiment_needs_no_name():
    run = choose_run([tagged("e"), tagged(case_id=None), tagged("e", "r")], None, "source")
    assert (run.experiment, len(run.paths), run.left_out) == ("e", 2, 1)


def test_no_experiment_at_all_is_one_too():
    assert choose_run([tagged()], None, "source").experiment is None


@pytest.mark.parametrize("wanted", [None, "g"])
def test_several_or_another_are_an_error_with_the_list(wanted):
    with pytest.raises(InputError, match=r'expected --experiment to be one of: e, f, "" \(no experiment\)'):
        choose_run([tagged("e"), tagged("f"), tagged()], wanted, "source")


@pytest.mark.parametrize(("wanted", "count"), [("e", 1), ("f", 2), ("", 1)])
def test_a_named_one_is_chosen(wanted, count):
    paths = [tagged("e"), tagged("f"), tagged("f", "r"), tagged()]
    assert len(choose_run(paths, wanted, "source").paths) == count


def test_nothing_with_a_case_is_an_error():
    with pytest.raises(InputError, match="2 without a case id; run each question within"):
        choose_run([tagged(case_id=None)] * 2, None, "source")


def test_a_second_result_of_the_same_is_an_error_and_a_repetition_is_not():
    run = choose_run([tagged(repetition=1), tagged(repetition=2)], None, "source")
    assert check_run(run, [Q], "source") == []
    run = choose_run([tagged(repetition=1, path_id="x"), tagged(repetition=1, path_id="y")], None, "source")
    with pytest.raises(InputError, match="case 'q' repetition 1: expected one result, got x and y; choose one with"):
        check_run(run, [Q], "source")


def test_a_case_that_lacks_a_repetition_lacks_a_result():
    other = case("a", "a").__class__(id="r", segment="s", question="?", answerable=False)
    run = choose_run([tagged(repetition=1), tagged(repetition=2), tagged(case_id="r", repetition=2)], None, "source")
    assert check_run(run, [Q, other], "source") == [(other, 1)]
    assert check_run(choose_run([tagged()], None, "source"), [Q, other], "source") == [(other, None)]
