"""
The executable `control_loop`: trajectory generator and controller in one process.

The same two nodes with their topics, services and parameters, under one executor. A joint state is
heard once: the controller answers it, then the generator goes on, and its points reach the
controller without a topic between them.
"""

from robot_id.nodes.ctc_controller import CtcController
from robot_id.nodes.trajectory_generator import TrajectoryGenerator
from robot_id.ros.base import end, run


def main() -> None:
    """Run both nodes until Ctrl-C."""
    generators: list[TrajectoryGenerator] = []

    def trajectory_generator() -> TrajectoryGenerator:
        generators.append(TrajectoryGenerator(listens=False))
        return generators[0]

    def ctc_controller() -> CtcController:
        generator = generators[0]
        controller = CtcController(generator.states.take)
        generator.on_point = controller.take_point
        return controller

    end(run(trajectory_generator, ctc_controller))
