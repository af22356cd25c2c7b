"""Build of the ament_python package robot_id; every node is one line of console_scripts."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = 'robot_id'

NODES = [
    'control_loop',
    'ctc_controller',
    'data_logger',
    'ddm_simulator',
    'effort_relay',
    'identification_server',
    'identify_once',
    'motion_player',
    'online_identifier',
    'replay',
    'trajectory_generator',
]


ROOT = Path(__file__).resolve().parent


def requirements(name):
    """Return the lines of requirements/NAME.in: what is needed is declared there alone."""
    lines = (ROOT / 'requirements' / f'{name}.in').read_text().splitlines()
    return [line for line in lines if line and not line.startswith('#')]


def data_files(*folders):
    """Return what goes below share/robot_id, folder by folder."""
    found = {}
    for folder in folders:
        for path in sorted(Path(folder).rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts:
                found.setdefault(f'share/{NAME}/{path.parent}', []).append(str(path))
    return list(found.items())


setup(
    name=NAME,
    version='0.1.0',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={
        NAME: [
            'py.typed',
            'api/*.pyi',
            'report/html/report.css',
            'report/html/report.js',
            'export/controller/templates/**/*',
        ]
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        *data_files('launch', 'config', 'urdf'),
    ],
    python_requires='>=3.10',
    install_requires=requirements('core'),
    extras_require={
        **{
            extra: requirements(extra)
            for extra in (
                'bags',
                'plots',
                'physical',
                'frames',
                'xacro',
                'campaign',
                'studio',
            )
        },
        'test': requirements('develop'),
    },
    zip_safe=False,
    # A placeholder: the domain is reserved and receives no mail. See SECURITY.md.
    maintainer='robot_id maintainers',
    maintainer_email='maintainers@robot-id.example',
    description='Dynamic identification of robots: from measurements to a model to control.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'robot-id = robot_id.cli.main:main',
            *(f'{node} = {NAME}.nodes.start:{node}' for node in NODES),
        ],
    },
)
