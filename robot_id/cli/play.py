"""Verb `play`: a motion on a position-controlled robot, slow first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml

from robot_id import files
from robot_id.cli.console import alarm, output
from robot_id.cli.node_processes import NodeProcesses, end, ros_words, wait
from robot_id.cli.shared_options import robot_option
from robot_id.exceptions import DataError, OptionError

if TYPE_CHECKING:
    from robot_id.robot import Robot
    from robot_id.trajectory import Trajectory

# Name of a robot that stands for the topic robot_description.
TOPIC = 'topic'
MOTION, PICTURE = 'motion.yaml', 'motion.png'
# What the logger takes of what the player is told.
LOGGED = 'data_directory', 'mapping', 'controller'


@click.command()
@robot_option
@click.option(
    '--lock', 'locks', multiple=True, metavar='JOINT=POSITION',
    help='Joint of a URDF that does not move, such as that of a gripper, rad or m.',
)  # fmt: skip
@click.option(
    '--motion', help='Motion: a file of `robot-id excite`; left out, excite finds one first.'
)
@click.option(
    '--budget', default=60.0, show_default=True, help='Time to find a motion without --motion, s.'
)
@click.option(
    '--out', 'folder', default='runs', show_default=True, help='Folder of the recordings.'
)
@click.option('--mapping', default='', help='Topics, names, signs and units of the driver.')
@click.option('--controller', default='joint_trajectory_controller', show_default=True)
@click.option(
    '--interface', type=click.Choice(['auto', 'action', 'topic']), default='auto',
    show_default=True, help='How trajectories reach the controller.',
)  # fmt: skip
@click.option(
    '--speeds', default='0.2,0.5,1', show_default=True,
    help="Speeds in this order, as shares of the motion's own; each is asked for.",
)  # fmt: skip
@click.option(
    '--identify', 'identifies', is_flag=True,
    help='Identify the robot from the recordings, with report and verdict.',
)  # fmt: skip
@click.option('--method', default='idim_wls', show_default=True, help='Of --identify.')
@click.option('--namespace', default='', help='Namespace of the robot.')
@click.option(
    '--confirmed-speed', type=click.FloatRange(0.0, 1.0), default=0.0, show_default=True,
    help='Highest speed that is played without asking.',
)  # fmt: skip
@click.option('--sim', is_flag=True, help='The robot is simulated: nothing is asked.')
@click.option('--no-clearance', is_flag=True, help='Do not check collisions.')
@click.option('--dry-run', is_flag=True, help='Show what would be played, and move nothing.')
@click.argument('ros_args', nargs=-1, type=click.UNPROCESSED)
def command(
    robot: str,
    locks: tuple[str, ...],
    motion: str | None,
    budget: float,
    folder: str,
    mapping: str,
    controller: str,
    interface: str,
    speeds: str,
    identifies: bool,
    method: str,
    namespace: str,
    confirmed_speed: float,
    sim: bool,
    no_clearance: bool,
    dry_run: bool,
    ros_args: tuple[str, ...],
) -> None:
    """
    Play a motion through a joint_trajectory_controller, slow first, and record it.

    The robot `topic` is that of the topic robot_description. Each speed is recorded and checked
    before the next is asked for: on the terminal, or, where there is none, by the service
    motion_player/confirm. Ctrl-C brakes the robot. With --identify the exit code is that of
    `robot-id identify`.

    After `--` stand arguments of ROS for the nodes: `-- -r joint_states:=arm/joint_states -p
    largest_tracking_error:=0.05`.
    """
    from robot_id.robot import load_robot
    from robot_id.trajectory.default import motion_of
    from robot_id.trajectory.reference_generator import check_limits

    shares = _speeds(speeds)
    place = Path(folder)
    if motion is None and (place / MOTION).exists():
        raise DataError(
            f'{place / MOTION}: exists already; play it (--motion {place / MOTION}), or remove it'
        )
    # Who ends this process alone ends the robot's motion too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    robot = _robot(robot, _locks(locks), place, ros_words(namespace, ros_args))
    model = load_robot(robot)
    if motion is None:
        motion = _excited(robot, place, budget, no_clearance)
    trajectory = motion_of(model, motion)
    check_limits(model, trajectory)
    _show(model, trajectory, shares)
    if dry_run:
        _draw(model, trajectory, place)
        return
    parameters = {
        'robot': _path(robot),
        'trajectory': _path(motion),
        'data_directory': str(Path(folder).absolute()),
        'mapping': _path(mapping),
        'controller': controller,
        'interface': interface,
        'once': True,
        **({'clearance_m': 0.0} if no_clearance else {}),
        'sim': sim,
        'armed': not sim,
    }
    made = _play(parameters, shares, namespace, ros_args, 1.0 if sim else confirmed_speed)
    if identifies:
        _identify(robot, made, mapping, method, place)


def _play(
    parameters: dict[str, object],
    shares: list[float],
    namespace: str,
    ros_args: tuple[str, ...],
    confirmed: float,
) -> list[Path]:
    """Play speed after speed, each after a person's word; return the recordings."""
    folder = Path(str(parameters['data_directory']))
    before = _recordings(folder)
    made: list[Path] = []
    with tempfile.TemporaryDirectory() as place:
        nodes = NodeProcesses(namespace, ros_args, Path(place))
        # Ctrl-C reaches the player first, and the logger after it.
        logger = nodes.start('data_logger', {k: parameters[k] for k in LOGGED}, alone=True)
        try:
            for share in shares:
                permitted = _permitted(share, confirmed)
                one = {**parameters, 'speeds': [share], 'confirmed_speed': permitted}
                if wait(nodes.start('motion_player', one)):
                    failed = f'the robot was not played at {100 * share:g} %'
                    if not made:
                        raise DataError(f'{failed}: the lines above say why')
                    alarm([f'{failed} (the lines above say why): the slower speeds serve alone'])
                    break
                made = sorted(_recordings(folder) - before)
        finally:
            end(logger)
    names = ', '.join(path.name for path in made)
    output().print(f'recordings in {folder}: {names}', markup=False, soft_wrap=True)
    return made


def _permitted(share: float, confirmed: float) -> float:
    """Ask on the terminal; without one the player waits for its service ~/confirm."""
    if share <= confirmed or not sys.stdin.isatty():
        return confirmed
    question = f'Is the cell clear, and may the robot move at {100 * share:g} %?'
    click.confirm(question, abort=True)
    return share


def _robot(robot: str, locks: dict[str, float], place: Path, ros: list[str]) -> str:
    """Return a robot of a file or of the topic, with its locked joints in a robot file."""
    if robot == TOPIC:
        place.mkdir(parents=True, exist_ok=True)
        urdf = place / 'robot.urdf'
        words = ['-m', 'robot_id.ros.robot_description', str(urdf)]
        if subprocess.run([sys.executable, *words, *ros], check=False).returncode:
            raise DataError('the robot was not found: the line above says why')
        robot = str(urdf)
    if not locks:
        return robot
    if robot.endswith(('.yaml', '.yml')) or not os.path.exists(robot):
        raise OptionError(
            f"--lock is for a URDF; robot '{robot}' has its own file: write 'locked' there"
        )
    place.mkdir(parents=True, exist_ok=True)
    file = place / 'robot.yaml'
    name = Path(robot).name.partition('.')[0]
    content = {'name': name, 'urdf': _path(robot), 'locked': locks}
    files.write_text(file, yaml.safe_dump(content))
    return str(file)


def _locks(given: tuple[str, ...]) -> dict[str, float]:
    """Return the positions of the locked joints."""
    found = {}
    for text in given:
        joint, _, value = text.partition('=')
        try:
            found[joint.strip()] = float(value)
        except ValueError:
            raise OptionError(
                f"--lock '{text}': write JOINT=POSITION, such as gripper=0.0"
            ) from None
    return found


def _excited(robot: str, place: Path, budget: float, no_clearance: bool) -> str:
    """Find a motion, and return its file."""
    place.mkdir(parents=True, exist_ok=True)
    csv = (place / MOTION).with_suffix('.csv')
    more = ['--no-clearance'] if no_clearance else []
    if _verb('excite', '--robot', robot, '--budget', f'{budget:g}', '--out', str(csv),
             '--plot', str(place / PICTURE), *more):  # fmt: skip
        raise DataError('no motion was found: the lines above say why')
    return str(csv.with_suffix('.yaml'))


def _draw(robot: Robot, trajectory: Trajectory, place: Path) -> None:
    """Draw a motion with the limits of the robot, where that is not done already."""
    from robot_id.trajectory.limits import motion_limits
    from robot_id.trajectory.plot import plot_motion

    picture = place / PICTURE
    if not picture.exists():
        place.mkdir(parents=True, exist_ok=True)
        plot_motion(trajectory, motion_limits(robot), picture, robot.name)
    output().print(f'motion and limits: {picture}', markup=False, soft_wrap=True)


def _identify(robot: str, data: list[Path], mapping: str, method: str, folder: Path) -> None:
    """Identify from all speeds together; end with the exit code of the verdict."""
    given = [part for path in data for part in ('--data', str(path))]
    more = ['--mapping', mapping] if mapping else []
    code = _verb(
        'identify', '--robot', robot, '--method', method, *given, *more,
        '--json', str(folder / 'result.json'), '--report', str(folder / 'report.html'),
    )  # fmt: skip
    if code:
        click.get_current_context().exit(code)


def _verb(*words: str) -> int:
    """Run another verb of robot-id in a process of its own; return its exit code."""
    line = 'from robot_id.cli.main import main; main()'
    return subprocess.run([sys.executable, '-c', line, *words], check=False).returncode


def _recordings(folder: Path) -> set[Path]:
    """Return the bags of a folder."""
    return {file.parent for file in folder.glob('*/metadata.yaml')} if folder.is_dir() else set()


def _speeds(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(',')]
    except ValueError:
        raise OptionError(f"--speeds: '{text}' is not a list of numbers") from None
    if not all(0.0 < share <= 1.0 for share in found):
        raise OptionError(f'--speeds {text}: each must be above 0 and at most 1')
    return found


def _show(robot: Robot, trajectory: Trajectory, speeds: list[float]) -> None:
    """Print what each speed needs of the limits."""
    from robot_id.trajectory import TimeScaled, waypoints

    limits = robot.limits
    for share in speeds:
        scaled = TimeScaled(trajectory, share)
        peak = scaled.extremes()
        use = max(*(peak.velocity / limits.velocity), *(peak.acceleration / limits.acceleration))
        points = waypoints(scaled)
        output().print(
            f'{100 * share:g} %: {scaled.duration:.1f} s, {len(points.time)} points at '
            f'{points.rate_hz:g} Hz, {100 * use:.0f} % of the velocity and acceleration limits',
            soft_wrap=True,
        )


def _path(name: str) -> str:
    """Return the full path of a file; a shipped name as it is."""
    return str(Path(name).absolute()) if os.path.exists(name) else name
