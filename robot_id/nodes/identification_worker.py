"""
The process in which an identification runs; it knows nothing of ROS.

It reads one request per line on its standard input and answers with lines of JSON: `ready` once,
`progress` many times, then `result` or `error`. It can be killed at any time, and it ends by
itself when its input ends.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_id.api.methods import choose
from robot_id.api.verbs import identify, identify_payload
from robot_id.exceptions import RobotIdError
from robot_id.methods.result import Result
from robot_id.progress import Progress, part_of, to_message
from robot_id.report.plots import plot_prediction
from robot_id.robot import load_robot
from robot_id.tasks.payload.attachment import link_frame

Send = Callable[[str, dict[str, Any]], None]


def identify_load(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """
    Identify the load of a robot and save the result next to the recording.

    :param request: robot, loaded, unloaded, params and mapping ('' for none), link, output.
    """
    robot, link = load_robot(request['robot']), request['link']
    found = identify_payload(
        robot,
        request['loaded'],
        request['unloaded'] or None,
        arm=request['params'] or None,
        tool=link or None,
        mapping=request['mapping'] or None,
        progress=progress,
    )
    warnings, json_path = list(found.warnings), ''
    try:
        stem = _free_stem(Path(request['output']), f'{robot.name}_payload')
        path = stem.with_name(f'{stem.name}.json')
        found.save(path)
        json_path = str(path)
    except OSError as error:
        warnings.append(f'not saved: {error.filename or ""} {error.strerror}')
    return {
        'payload': found.to_dict(),
        'robot': robot.name,
        'frame_id': link or link_frame(robot),
        'warnings': warnings,
        'json_path': json_path,
    }


def answer(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """
    Identify from a recording and save the result next to it.

    :param request: robot, data, method, options, mapping, output (folder of the results), plots.
    """
    fit = identify(
        request['robot'],
        request['data'],
        choose(request['method'], request['options']),
        mapping=request['mapping'] or None,
        progress=part_of(progress, 0.0, 0.9),
    )
    robot, result = fit.robot, fit.result
    warnings = [*fit.warnings, *fit.dataset().notes]
    json_path, plots = '', []
    try:
        stem = _free_stem(Path(request['output']), f'{robot.name}_{result.method}')
        json_path = str(_save(result, stem))
        if request['plots']:
            progress(0.9, 'drawing')
            plots = [str(path) for path in plot_prediction(fit.prediction(), stem, robot.name)]
    except OSError as error:
        warnings.append(f'not saved: {error.filename or ""} {error.strerror}')
    progress(1.0, 'done')
    return {
        'result': result.to_dict(),
        'joint_names': list(robot.joint_names),
        'warnings': warnings,
        'json_path': json_path,
        'plot_paths': plots,
    }


def _free_stem(folder: Path, name: str) -> Path:
    """Return a path without an earlier result: nothing is overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    number, stem = 1, folder / name
    while stem.with_name(f'{stem.name}.json').exists():
        number += 1
        stem = folder / f'{name}_{number}'
    return stem


def _save(result: Result, stem: Path) -> Path:
    path, draft = (stem.with_name(f'{stem.name}.json{end}') for end in ('', '.tmp'))
    result.save(draft)
    return draft.replace(path)


def _answer(request: dict[str, Any], send: Send) -> None:
    try:
        work = identify_load if request.get('kind') == 'payload' else answer
        content = work(
            request, lambda fraction, text='': send('progress', to_message(fraction, text))
        )
    except BrokenPipeError:
        # The server was killed.
        sys.exit(1)
    except RobotIdError as error:
        send('error', {'kind': type(error).__name__, 'text': ' '.join(str(error).split())})
    except Exception as error:
        traceback.print_exc()
        send('error', {'kind': 'bug', 'text': f'{type(error).__name__}: {error}'})
    else:
        send('result', content)


def main() -> None:
    """Answer requests until the input ends."""
    out = os.fdopen(os.dup(1), 'w', buffering=1)
    # Output of libraries goes to the log, not between the answers.
    os.dup2(2, 1)
    requests: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            requests.put(line)
        os._exit(0)

    def send(kind: str, content: dict[str, Any]) -> None:
        out.write(json.dumps({'kind': kind, **{'content': content}}) + '\n')

    threading.Thread(target=listen, daemon=True).start()
    send('ready', {})
    while True:
        _answer(json.loads(requests.get()), send)


if __name__ == '__main__':
    main()
