"""What an identification gives: parameters, verdict, model, plots and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robot_id.api.model import Model
from robot_id.api.parameters import HEADS, Parameters
from robot_id.data.dataset import Dataset
from robot_id.data.mapping import MappingLike
from robot_id.exceptions import DataError, RobotIdError
from robot_id.export.registry import export
from robot_id.export.writing import format_of, put, write_exported
from robot_id.methods.result import Result
from robot_id.plain_table import html_lines, html_table, number, text_table
from robot_id.progress import Progress, silent
from robot_id.regression.rows.prediction import Prediction
from robot_id.report.compare import Comparison, side_by_side
from robot_id.report.html.page import write_report
from robot_id.report.html.provenance import provenance
from robot_id.report.plots import draw_friction, draw_torques
from robot_id.robot import Robot
from robot_id.tasks.friction.curves import friction_curves
from robot_id.tasks.identify import Identification
from robot_id.tasks.measurements import Data, measurements
from robot_id.tasks.validation import Conditions, Validation, validate
from robot_id.tasks.verdict.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Fit:
    """
    An identified model with everything that is known about it.

    :param robot: the Robot.
    :param result: values, covariance, options and verdict, as the JSON file holds them.
    :param identification: with the data, None for a fit that was read from a file.
    """

    robot: Robot
    result: Result
    identification: Identification | None = None

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.result.method

    @property
    def parameters(self) -> Parameters:
        """The base parameters: a mapping from name to value; `to_frame()` for pandas."""
        return Parameters(self.result)

    @property
    def covariance(self) -> Array:
        """(b, b) covariance of the parameters, in their order."""
        return self.result.covariance.copy()

    @property
    def verdict(self) -> Verdict:
        """`level` usable, caution or do_not_use, with its `reasons`."""
        if self.result.verdict is None:
            raise DataError('this result was never judged: identify does that', key='verdict')
        return Verdict(self.result.verdict, self.result.reasons)

    @property
    def error_percent(self) -> float:
        """Training error: 100 ||tau - tau_model|| / ||tau|| of the data that were fitted."""
        return self.result.relative_error_percent

    @property
    def joint_errors_percent(self) -> dict[str, float]:
        """The training error of each joint."""
        each = self.result.relative_error_percent_per_joint.tolist()
        return dict(zip(self.robot.joint_names, each))

    @property
    def holdout_error_percent(self) -> float:
        """The error on data that were kept back from a fit; NaN without."""
        return self.result.holdout_error_percent

    @property
    def findings(self) -> tuple[str, ...]:
        """One line for each thing that looks wrong in the measurements."""
        found = self.identification
        if found is not None:
            return found.findings
        return tuple(str(one['message']) for one in self.result.findings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line each: what looks wrong in the data, then in the result."""
        found = self.identification
        return self.result.warnings if found is None else found.warnings

    @property
    def validation(self) -> Validation | None:
        """Errors on the recordings that were given to `identify` as `validate`."""
        return None if self.identification is None else self.identification.validation

    @cached_property
    def model(self) -> Model:
        """Torques, inertia and gravity of any motion."""
        return Model(self.robot, self.result)

    def dataset(self, data: Data | None = None) -> Dataset:
        """
        Return the data that were fitted, or others.

        :raises DataError: where the fit was read from a file and no data are given.
        """
        if data is not None:
            return measurements(self.robot, data)
        if self.identification is None:
            raise DataError(
                'this fit was read from a file, which holds no measurements: give data=',
                key='data',
            )
        return self.identification.dataset

    def prediction(self, data: Data | None = None) -> Prediction:
        """Return measured and predicted torques of the data that were fitted, or of others."""
        if data is None and self.identification is not None:
            return self.identification.prediction
        return self.validate(self.dataset(data)).prediction

    def validate(
        self,
        data: Data,
        *,
        mapping: MappingLike | None = None,
        progress: Progress = silent,
        **options: Any,
    ) -> Validation:
        """
        Predict the torques of other data, processed as the fit did.

        :param data: Dataset, file, or a list of them.
        :param options: of the processing that differ from the fit, such as cutoff_hz.
        :return: `error_percent` and the errors of the joints.
        """
        dataset = measurements(self.robot, data, mapping)
        conditions = Conditions.of(self.result, dataset.rate, options)
        return validate(self.robot, self.result, dataset, conditions, progress)

    def compare(self, *others: Fit, labels: Sequence[str] | None = None) -> Comparison:
        """Return this fit beside others; differences in standard deviations of both."""
        return compare(self, *others, labels=labels)

    def plot_torques(self, data: Data | None = None) -> Figure:
        """Draw measured and predicted torque and the residual of every joint."""
        return draw_torques(self.robot, self.prediction(data), self._title)

    def plot_friction(self, data: Data | None = None) -> Figure:
        """Draw friction against velocity: what the rigid model leaves, and the fitted curve."""
        curves = friction_curves(self.robot, self.result, self.dataset(data))
        return draw_friction(curves, self._title)

    def report(
        self,
        path: str | Path,
        *,
        data: Data | None = None,
        command: Sequence[str] = (),
        files: Sequence[str | Path] | None = None,
    ) -> None:
        """
        Write the HTML report.

        :param data: measurements, where the fit was read from a file.
        :param command: words of the command line that gave this fit.
        :param files: that were read; None takes those that the data name.
        """
        dataset = self.dataset(data)
        named = dataset.source.split(', ') if files is None else files
        read = [part for part in named if Path(part).exists()]
        put(
            lambda draft: write_report(
                draft,
                self.robot,
                dataset,
                self.result,
                self.prediction(data),
                provenance(command or ('robot_id.identify', self.method), read),
                self.validation,
                self.findings,
                self._downloads(),
            ),
            Path(path),
        )

    def export(
        self, path: str | Path, *, format: str | None = None, force: bool = False
    ) -> list[str]:
        """
        Write the model for another program.

        :param path: .urdf, .sdf, .xml (MuJoCo), .yaml, .csv, or a folder for C code.
        :param format: one of `robot-id export --help`; None takes the ending of the path.
        :param force: write a model for a controller although its verdict is do_not_use.
        :return: one line for each thing to know about the file.
        """
        kind = format_of(Path(path)) if format is None else format
        made = export(kind, self.result, Path('this fit'), self.robot, force)
        return write_exported(made, Path(path))

    def save(self, path: str | Path) -> None:
        """Write the JSON file, with path and hash of the robot; `load_fit` reads it."""
        put(self.result.save, Path(path))

    def _downloads(self) -> dict[str, str]:
        """Return the files that the report offers; no URDF of a model that must not be used."""
        found = {}
        for kind in ('csv', 'urdf'):
            try:
                made = export(kind, self.result, Path('this fit'), self.robot)
                if made.check is not None:
                    made.check(made.text)
            except RobotIdError:
                continue
            found[f'{self.robot.name}.{kind}'] = made.text
        return found

    @property
    def _title(self) -> str:
        return f'{self.robot.name}, {self.method}'

    def _head(self) -> list[str]:
        result = self.result
        verdict = (result.verdict or 'not judged').replace('_', ' ')
        errors = [f'training error {number(self.error_percent, 4)} %']
        if np.isfinite(self.holdout_error_percent):
            errors.append(f'hold-out error {number(self.holdout_error_percent, 4)} %')
        errors.append(f'condition number {number(result.condition_number, 4)}')
        return [
            f'{self._title}: {verdict}',
            *(f'  because {reason}' for reason in result.reasons),
            *(f'  suggestion: {one["text"]}' for one in result.suggestions),
            ', '.join(errors),
        ]

    def _error_rows(self) -> list[tuple[str, str]]:
        return [(name, number(e, 4)) for name, e in self.joint_errors_percent.items()]

    def __repr__(self) -> str:
        return '\n'.join([
            *self._head(), '',
            text_table(('joint', 'training error %'), self._error_rows()), '',
            text_table(HEADS, self.parameters.rows()),
        ])  # fmt: skip

    def _repr_html_(self) -> str:
        errors = html_table(('joint', 'training error %'), self._error_rows())
        return html_lines(self._head()) + errors + html_table(HEADS, self.parameters.rows())


def compare(*fits: Fit, labels: Sequence[str] | None = None) -> Comparison:
    """
    Return several fits of one robot side by side.

    :param labels: one for each; None takes the methods, or numbers.
    """
    for one in fits:
        if not isinstance(one, Fit):
            raise DataError(
                f'compare: a fit is needed, got {type(one).__name__}; load_fit reads a file',
                key='fits',
            )
    names = list(labels) if labels else [f'fit {k + 1}' for k in range(len(fits))]
    if len(names) != len(fits):
        raise DataError(f'compare: {len(names)} labels for {len(fits)} fits', key='labels')
    return side_by_side([fit.result for fit in fits], names, named=labels is not None)
