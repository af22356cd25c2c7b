"""The robot in 3-D: its shapes follow a position of the joints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from nicegui import app, ui
from numpy.typing import NDArray

from robot_id.api.view import View
from robot_id.studio.charts import COLOURS

Array = NDArray[np.float64]


class Figure:
    """
    The 3-D view of one robot.

    :param robot: whose shapes are drawn.
    """

    def __init__(self, robot: Any) -> None:
        self.view = View(robot)
        reach = self.view.reach()
        with ui.scene(width=480, height=380, grid=(max(round(2.0 * reach), 1), 20)) as self.scene:
            self.objects = [self._object(shape) for shape in self.view.shapes]
        self.scene.classes('w-full')
        self.scene.move_camera(
            0.9 * reach, -0.9 * reach, 0.8 * reach, 0, 0, 0.35 * reach, duration=0
        )
        self.show(np.zeros(robot.n))

    def _object(self, shape: Any) -> Any:
        if shape.kind == 'box':
            made: Any = self.scene.box(*shape.size)
        elif shape.kind == 'cylinder':
            made = self.scene.cylinder(shape.size[0], shape.size[0], shape.size[1], 24)
        elif shape.kind == 'sphere':
            made = self.scene.sphere(shape.size[0])
        else:
            url = app.add_static_file(local_file=Path(shape.file))
            made = self.scene.stl(url).scale(*shape.size)
        colour = '#9aa5b1' if shape.body < 0 else COLOURS[shape.body % len(COLOURS)]
        return made.material(colour, opacity=0.9)

    def show(self, q: Array) -> None:
        """Move all shapes to a position of the joints."""
        with self.scene._batch_calls():  # one message for all shapes
            for made, shape, (R, p) in zip(self.objects, self.view.shapes, self.view.placed(q)):
                # The axis of a cylinder is y in the browser and z in a URDF.
                turned = R @ _UPRIGHT if shape.kind == 'cylinder' else R
                made.move(*map(float, p))
                made.rotate_R(turned.tolist())


_UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
