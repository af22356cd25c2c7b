"""Progress and errors carry their numbers as data."""

import math
import pickle

from robot_id.exceptions import ControlError
from robot_id.progress import IterationText, attempts, from_message, part_of, to_message


def test_iterations_go_through_json_and_parts():
    heard = []
    report = part_of(lambda fraction, text='': heard.append((fraction, text)), 0.5, 1.0, 'part')
    report(0.5, IterationText(3, 4.25))
    report(1.0)
    fraction, text = from_message(to_message(*heard[0]))
    assert (fraction, text.iteration, text.error_percent) == (0.75, 3, 4.25)
    assert text == heard[0][1] == 'iterations done: 3, error 4.25 %'
    assert from_message(to_message(*heard[1])) == (1.0, 'part')
    first = from_message(to_message(0.0, IterationText(0)))[1]
    assert first.iteration == 0
    assert math.isnan(first.error_percent)


def test_progress_of_repeated_attempts_never_goes_back():
    heard = []
    for report, _ in zip(attempts(lambda fraction, text='': heard.append(fraction)), range(5)):
        report(0.0)
        report(1.0)
    assert heard == sorted(heard)
    assert 0.9 < heard[-1] < 1.0


def test_errors_carry_their_data():
    error = ControlError('joint elbow: 12 N.m', joint='elbow', value=12.0, bound=10.0)
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert (str(each), each.joint, each.value, each.bound, each.key) == (
            'joint elbow: 12 N.m', 'elbow', 12.0, 10.0, None,
        )  # fmt: skip
