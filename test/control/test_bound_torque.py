"""The law by a table of addresses against the law as the simulated loop calls it."""

import copy
import pickle
from collections import namedtuple

import numpy as np
import pytest

from robot_id.control import ComputedTorque
from robot_id.control.laws.computed_torque import Memory
from robot_id.control.runtime.bound_torque import BoundTorque, memory_at, tree_at
from robot_id.dynamics.kernels.closed_loop import one_torque
from robot_id.dynamics.kernels.tree import Tree, tree_of
from robot_id.robot import load_robot


def inputs_of(robot, count, seed=3):
    rng = np.random.default_rng(seed)
    scale = np.array([0.3, 1.0, 5.0, 0.3])[:, None]
    return rng.normal(size=(count, 4, robot.n)) * scale


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
@pytest.mark.parametrize('options', [{}, {'measured': True, 'integral': 2.0}])
def test_it_is_the_law_bit_by_bit_also_while_a_model_moves(name, options):
    robot = load_robot(name)
    ours = ComputedTorque(robot, **options, blend_s=0.02)
    other = ComputedTorque(robot, **options, blend_s=0.02)
    bound = BoundTorque(tree_of(robot), ours.settings, ours.memory)
    found, wanted = np.empty(robot.n), np.empty(robot.n)
    for k, inputs in enumerate(inputs_of(robot, 60)):
        if k == 20:
            for each in (ours, other):
                each.set_parameters(1.3 * robot.a_priori())
        assert bound(inputs, 2e-3, found)
        one_torque(tree_of(robot), other.settings, other.memory, inputs, 2e-3, wanted)
        np.testing.assert_array_equal(found, wanted)
        for a, b in zip(ours.memory, other.memory):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_bad_inputs_leave_everything_as_it_was(bad):
    robot = load_robot('scara')
    control = ComputedTorque(robot)
    bound = BoundTorque(tree_of(robot), control.settings, control.memory)
    inputs, tau = inputs_of(robot, 1)[0], np.full(robot.n, 7.0)
    before = Memory(*(x.copy() for x in control.memory))
    for place in np.ndindex(inputs.shape):
        wrong = inputs.copy()
        wrong[place] = bad
        assert not bound(wrong, 1e-3, tau)
    for h in (0.0, -1e-3, bad):
        assert not bound(inputs, h, tau)
    assert tau.tolist() == [7.0] * robot.n
    for a, b in zip(before, control.memory):
        np.testing.assert_array_equal(a, b)
    assert bound(inputs, 1e-3, tau)


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_has_a_memory_of_its_own(copied):
    robot = load_robot('scara')
    control = ComputedTorque(robot)
    inputs = inputs_of(robot, 1)[0]
    twin = copied(control)
    before = control.memory.before.copy()
    torque = twin.step_to(inputs[:3], inputs[3])
    np.testing.assert_array_equal(control.memory.before, before)
    np.testing.assert_array_equal(twin.memory.before[0], inputs[3])
    np.testing.assert_array_equal(torque, control.step_to(inputs[:3], inputs[3]))
    np.testing.assert_array_equal(control.memory.before, twin.memory.before)


def test_the_kernels_rebuild_every_field_from_its_own_row():
    robot = load_robot('tx40')
    control = ComputedTorque(robot)
    tree = tree_of(robot)
    bound = BoundTorque(tree, control.settings, control.memory)
    for rebuilt, wanted in (
        (tree_at(bound.table), tree),
        (memory_at(bound.table), control.memory),
    ):
        for field, own in zip(wanted._fields, rebuilt):
            np.testing.assert_array_equal(own, getattr(wanted, field), err_msg=field)
            assert own.dtype == getattr(wanted, field).dtype


def test_a_moved_field_or_one_of_another_kind_is_refused():
    robot = load_robot('scara')
    control, tree = ComputedTorque(robot), tree_of(robot)
    fields = list(Tree._fields)
    fields[9], fields[10] = fields[10], fields[9]
    moved = namedtuple('Tree', fields)(**tree._asdict())
    for wrong in (
        moved,
        tree._replace(dof=tree.dof.astype(np.int32)),
        tree._replace(gravity=tree.gravity[:, None]),
        tree._replace(axis=np.asfortranarray(np.tile(tree.axis, (2, 1)))),
    ):
        with pytest.raises(ValueError, match=r'table|contiguous'):
            BoundTorque(wrong, control.settings, control.memory)
