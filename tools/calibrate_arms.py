"""
Take stock arms from an empty folder to a verdict through their controller, and compare the result.

    python tools/isolated.py python -m tools.calibrate_arms --arms ur5,panda --out cases.jsonl

Each arm is a process (plants/jtc_plant.py: MuJoCo behind a vendor's loop that robot_id does not
know, with rotors and friction with stick) and stands where a user left it. The stock URDF with its
meshes, its gripper locked, is all that is given; `calibrate.launch.py` (`robot-id play --identify`
where `launch` is not installed) finds a motion, plays it, records, identifies and judges. Printed
are its seconds, the verdict, and how the parameters compare with MuJoCo's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools'), str(ROOT / 'test')]

from plants.mujoco_arms import make_stock_arm  # noqa: E402
from plants.mujoco_truth import add_damping_of_a_step, true_parameters  # noqa: E402
from plants.position_arm import Settings, mechanics  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402

from robot_id.methods.result import Result  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402

# Where each stands, clear of itself and its floor.
STANDS = {
    'ur5': (0.3, -1.4, 1.2, -1.2, -1.5, 0.2),
    'panda': (0.2, -0.6, 0.1, -2.2, 0.1, 1.7, 0.6),
}
SPACE = 'calibrated'
# Parameters count whose standard deviation is below this share of their estimate.
KNOWN = 0.2


def case(name: str, budget: float, timeout: float, seed: int) -> dict[str, Any]:
    """Return what one arm gave."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        arm = make_stock_arm(name, folder)
        robot = load_robot(arm.robot_file)
        settings = Settings(str(arm.urdf), STANDS[name], robot.joint_names, seed=seed)
        command = [sys.executable, str(ROOT / 'tools/plants/jtc_plant.py')]
        command += [str(settings.write(folder / 'plant.json'))]
        runs = folder / 'runs'
        with NodeProcess(command, namespace=SPACE) as plant:
            plant.wait_for_log('ready')
            begun = time.perf_counter()
            code = subprocess.run(
                _command(arm.robot_file, runs, budget, timeout, folder), check=False
            ).returncode
            seconds = time.perf_counter() - begun
        found = {'arm': name, 'seed': seed, 'seconds': seconds, 'exit': code}
        if not (runs / 'result.json').exists():
            return found
        result = Result.load(runs / 'result.json')
        model = mechanics(settings)
        add_damping_of_a_step(model)
        truth = true_parameters(robot, model, np.random.default_rng(0))
        known = (result.std > 0.0) & (result.std < KNOWN * np.abs(result.values))
        z = ((result.values - truth) / result.std)[known]
        off = np.abs(result.values / truth - 1.0)[known]
        return found | {
            'verdict': result.verdict,
            'reasons': list(result.reasons),
            'holdout': result.holdout_error_percent,
            'parameters': len(truth),
            'known': int(known.sum()),
            'covered': int((np.abs(z) < 1.96).sum()),
            'median_off_percent': 100.0 * float(np.median(off)),
            'largest_off_percent': 100.0 * float(off.max()),
            'farthest': np.array(result.names)[known][int(np.argmax(off))],
        }


def _command(robot: Path, runs: Path, budget: float, timeout: float, folder: Path) -> list[str]:
    """Return the launch, or the command that it runs."""
    parameters = {'state_timeout_s': timeout}
    if find_spec('launch_ros') is None:
        words = ['--robot', str(robot), '--out', str(runs), '--budget', f'{budget:g}', '--sim',
                 '--namespace', SPACE, '--', '-p', f'state_timeout_s:={timeout}']  # fmt: skip
        line = 'from robot_id.cli.main import main; main()'
        return [sys.executable, '-c', line, 'play', '--identify', *words]
    from ros_helpers.launching import command

    file = folder / 'params.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
    return command(
        'calibrate', f'robot:={robot}', f'data_directory:={runs}', f'budget:={budget:g}',
        'sim:=true', f'namespace:={SPACE}', f'params_file:={file}',
    )  # fmt: skip


def main() -> None:
    """Run the cases and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', default=','.join(STANDS))
    parser.add_argument('--budget', type=float, default=60.0, help='of the search, s')
    parser.add_argument(
        '--state-timeout', type=float, default=0.5, help='of the player, s; more on a busy machine'
    )
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=Path, help='JSON lines, one for each arm')
    args = parser.parse_args()
    for name in args.arms.split(','):
        line = json.dumps(case(name, args.budget, args.state_timeout, args.seed))
        print(line)
        if args.out:
            with args.out.open('a') as file:
                file.write(line + '\n')


if __name__ == '__main__':
    main()
