"""
Measure how often 95 % intervals hold the truth on plants that are not ours.

    python -m tools.cover_arms --arms ur5,panda,z1 --seeds 4 --method idim_wls --method idim_iv
    python -m tools.cover_arms --arms hard --seeds 20 --method didim

Each recording is drawn from the seed alone: mount, motion, rotors, friction, encoders and noise.
`hard` are random arms with hard friction (plants/hard_arm.py; 2 to 5 joints, 6 to 30 s, 100 Hz to
1 kHz, every other one with its reference), all others are simulated by MuJoCo.
MuJoCo's friction gives way softly around rest, which no friction law of ours says; what it costs
is seen with `--frictionless`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants import hard_arm  # noqa: E402
from plants.mujoco_arms import ARMS, make_arm  # noqa: E402
from plants.mujoco_recordings import Motion  # noqa: E402
from plants.mujoco_truth import true_parameters, truthful  # noqa: E402

from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.methods import registry  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402

Array = NDArray[np.float64]
# Parameters count whose deviation is below this share of their estimate.
KNOWN = 0.2
HARD = 'hard'
# Kinds of parameters; all others are inertial.
KINDS = ('Fc', 'Fv', 'Ia')


def errors(
    arm: str, seed: int, methods: list[str], motion: Motion, frictionless: bool
) -> dict[str, dict[str, float]]:
    """Return for each method the errors of the parameters that it knows, in deviations."""
    rng, found = np.random.default_rng([seed, 77]), {}
    with tempfile.TemporaryDirectory() as folder:
        if arm == HARD:
            hard = hard_arm.make(Path(folder), seed, with_reference=bool(seed % 2))
            robot, dataset = load_robot(hard.robot_file), hard.dataset
            truth = hard.truth(robot)
        else:
            made = make_arm(arm, Path(folder), rng)
            dataset, model = truthful(made, rng, motion, 0.0 if frictionless else 1.0)
            robot = load_robot(made.robot_file)
            truth = true_parameters(robot, model, rng)
        for method in methods:
            try:
                result = registry.create(method, {}).estimate(robot, dataset)
            except RobotIdError as error:
                print(f'{arm} {seed} {method}: {error}', file=sys.stderr)
                continue
            known = (result.std > 0.0) & (result.std < KNOWN * np.abs(result.values))
            names = np.array(robot.base.names)[known]
            z = ((result.values - truth) / result.std)[known]
            found[method] = dict(zip(names.tolist(), z.tolist()))
    return found


def line(label: str, z: Array) -> str:
    """Return the row of a table for errors in deviations."""
    inside = 100.0 * np.mean(np.abs(z) < 1.96)
    return f'| {label} | {len(z)} | {inside:.1f} | {np.sqrt(np.mean(z**2)):.2f} |'


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', default='ur5,panda,z1', help=f'of {HARD}, {", ".join(ARMS)}')
    parser.add_argument('--seeds', type=int, default=4)
    parser.add_argument('--first', type=int, default=0, help='the first seed')
    parser.add_argument('--method', action='append', help='several with several --method')
    parser.add_argument('--seconds', type=float, default=12.0)
    parser.add_argument('--rate', type=float, default=250.0, help='of the recording, Hz')
    parser.add_argument('--frictionless', action='store_true', help='no Coulomb friction')
    args = parser.parse_args()
    methods, motion = args.method or ['idim_wls'], Motion(args.seconds, args.rate)
    all_of: dict[tuple[str, str], list[float]] = {}
    kinds: dict[tuple[str, str], list[float]] = {}
    for arm in args.arms.split(','):
        for seed in range(args.first, args.first + args.seeds):
            for method, z in errors(arm, seed, methods, motion, args.frictionless).items():
                all_of.setdefault((arm, method), []).extend(z.values())
                for name, value in z.items():
                    kind = name[:2] if name[:2] in KINDS else 'inertial'
                    kinds.setdefault((method, kind), []).append(value)
                far = {name: round(value, 1) for name, value in z.items() if abs(value) > 3.0}
                print(arm, seed, method, far or '', file=sys.stderr, flush=True)
    print('| arm, method | parameters | covered % | rms error / deviation |')
    print('|---|---:|---:|---:|')
    for (arm, method), z in all_of.items():
        print(line(f'{arm}, {method}', np.array(z)))
    for method in methods:
        together = [value for key, z in all_of.items() if key[1] == method for value in z]
        if together:
            print(line(f'all, {method}', np.array(together)))
    for (method, kind), z in sorted(kinds.items()):
        print(line(f'{kind}, {method}', np.array(z)))


if __name__ == '__main__':
    main()
