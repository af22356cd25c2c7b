"""Models handed over while a robot moves: good ones, bad ones, and many requests at once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import Inertia
from numpy.typing import NDArray
from running.robot_graph import START_S

from commissioning.cell import Cell
from commissioning.robots import BODIES, FRICTION, is_friction
from commissioning.seen import Seen
from robot_id.methods.result import Result
from robot_id.ros.qos import SERVICE
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import SetDynamicParameters, SetPayload

Array = NDArray[np.float64]
SCALES = (0.1, 0.3, 3.0, 10.0, 100.0, 1000.0)
HUGE = 1e6
# The loads of requests that come at once, small enough for each of the robots [kg].
LOAD_KG = 0.05


@dataclass
class Phase:
    """
    A part of the motion.

    :param seen: by the plant.
    :param error: (n,) largest tracking error.
    :param codes: the answers' codes, with how often each came.
    :param answer_s: the longest time to an answer.
    :param following: whether the motion went on.
    """

    name: str
    seen: Seen
    error: Array
    codes: dict[int, int]
    answer_s: float
    following: bool

    @property
    def missed(self) -> int:
        """States without a command of their own."""
        return max(self.seen.states - self.seen.commands, 0)

    @property
    def text(self) -> str:
        """One line."""
        codes = ', '.join(f'{count} x {code}' for code, count in self.codes.items())
        return (
            f'{self.name}: longest interval {1e3 * self.seen.gap_s:.0f} ms, {self.missed} missed, '
            f'error {self.error.max():.2g}, codes {codes or "-"}, answers within '
            f'{1e3 * self.answer_s:.0f} ms, {"moves on" if self.following else "STOPPED"}; plant '
            f'stalled {self.seen.stalls} times, {1e3 * self.seen.stall_s:.0f} ms at most'
        )


class HandOver:
    """
    The experiments on a cell whose robot follows its motion.

    :ivar truth: (b,) of the plant.
    """

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        robot, self._robot = Result.load(cell.prepared.model), cell.prepared.robot
        self._friction = is_friction(self._robot)
        self.truth = robot.values / np.where(self._friction, FRICTION, BODIES)
        self._client = cell.client.node.create_client(
            SetDynamicParameters, f'{cell.node}/set_dynamic_parameters'
        )
        cell.client.spin_until(self._client.service_is_ready, START_S, 'the service')

    def model(self, bodies: float, friction: float) -> Array:
        """(b,) the truth with other bodies and other friction."""
        return self.truth * np.where(self._friction, friction, bodies)

    def baseline(self, seconds: float) -> Phase:
        """Only move."""
        return self._phase('no hand-over', lambda: self._cell.client.spin_for(seconds))

    def good(self, count: int, pause_s: float) -> Phase:
        """Hand over good models, one after the other."""

        def work() -> list[tuple[int, float]]:
            found = []
            for k in range(count):
                bodies, friction = (0.97, 1.05) if k % 2 else (BODIES, FRICTION)
                found.append(self.ask(self.model(bodies, friction)))
                self._cell.client.spin_for(pause_s)
            return found

        return self._phase(f'{count} good models', work)

    def scaled(self) -> Phase:
        """Hand over models that are all values times a factor."""
        return self._phase('scaled models', lambda: [self.ask(s * self.truth) for s in SCALES])

    def single(self) -> Phase:
        """Hand over models with one value that is far too large."""

        def work() -> list[tuple[int, float]]:
            found = []
            for k, value in enumerate(self.truth):
                chi = self.truth.copy()
                chi[k] = HUGE * (value or 1.0)
                found.append(self.ask(chi))
            return found

        return self._phase('single values times 1e6', work)

    def burst(self, count: int) -> Phase:
        """Ask for loads, all at once."""
        cell = self._cell
        caller = cell.client.node.create_client(
            SetPayload, f'{cell.node}/set_payload', qos_profile=SERVICE
        )
        cell.client.spin_until(caller.service_is_ready, START_S, 'set_payload')

        def work() -> list[tuple[int, float]]:
            begun = time.monotonic()
            requests = (
                SetPayload.Request(inertia=Inertia(m=LOAD_KG * (k % 2))) for k in range(count)
            )
            answers = [caller.call_async(request) for request in requests]
            cell.client.spin_until(lambda: all(a.done() for a in answers), START_S, 'answers')
            took = time.monotonic() - begun
            return [(answer.result().error_code, took) for answer in answers]

        found = self._phase(f'{count} set_payload at once', work)
        cell.client.node.destroy_client(caller)
        return found

    def ask(self, chi: Array) -> tuple[int, float]:
        """Ask for a model; return the code and the seconds to the answer."""
        request = SetDynamicParameters.Request()
        request.parameters.names = list(self._robot.base.names)
        request.parameters.values = chi.tolist()
        begun = time.monotonic()
        future = self._client.call_async(request)
        self._cell.client.spin_until(future.done, START_S, 'an answer')
        return future.result().error_code, time.monotonic() - begun

    def close(self) -> None:
        """End the client."""
        self._cell.client.node.destroy_client(self._client)

    def _phase(self, name: str, work: Any) -> Phase:
        cell = self._cell
        cell.client.spin_for(1.2)
        cell.health.messages.clear()
        cell.clear()
        answers = work() or []
        seen = cell.seen()
        # The last second is reported after it.
        cell.client.spin_for(1.2)
        codes: dict[int, int] = {}
        for code, _ in answers:
            codes[code] = codes.get(code, 0) + 1
        control = f'{cell.node}: control'
        errors = np.array([
            [float(values[f'peak_error_{joint}']) for joint in self._robot.joint_names]
            for values in cell.health.history(control)
        ])  # fmt: skip
        following = cell.health.values(control).get('mode') == 'following'
        longest = max((took for _, took in answers), default=0.0)
        return Phase(name, seen, errors.max(axis=0), codes, longest, following)


def is_safe(phase: Phase) -> bool:
    """Whether every answer was a refusal."""
    return ErrorCode.SUCCESS not in phase.codes
