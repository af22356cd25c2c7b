"""The chosen friction on measured data: data that were not fitted pay for it."""

import pytest

from robot_id.tasks.identify import Request, identify


@pytest.mark.parametrize(
    ('robot', 'data', 'mapping'),
    [('emps', 'emps/DATA_EMPS.mat', 'emps_benchmark'), ('tx40', 'tx40', 'tx40_csv')],
)
def test_the_chosen_friction_is_no_worse_on_data_that_were_not_fitted(
    shared, robot, data, mapping
):
    left = {}
    for friction in (None, 'auto'):
        request = Request(robot, [shared / 'data' / data], mapping=mapping, friction=friction)
        left[friction] = identify(request).result.holdout_error_percent
    print(robot, 'hold-out error %', left)
    assert left['auto'] <= left[None]
