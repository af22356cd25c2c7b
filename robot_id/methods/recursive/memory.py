"""How long an on-line estimator remembers."""

from __future__ import annotations

from dataclasses import dataclass

from robot_id.exceptions import OptionError, did_you_mean

KINDS = ('infinite', 'exponential', 'window', 'constant_trace')


@dataclass(frozen=True)
class Memory:
    """
    The observation window of paper 002.

    - infinite: every sample counts the same for ever (equals batch least squares);
    - exponential: a sample of age k counts exp(-k / samples);
    - window: the last `samples` samples count, kept as `blocks` blocks; the oldest block is
      dropped at once, so the true length lies between samples and samples (1 + 1 / blocks);
    - constant_trace: the forgetting that holds the trace of P (Sripada and Fisher 1987) at the
      value it had after `samples` samples, so forgetting stops when nothing moves.

    :param kind: one of the names above.
    :param samples: length in samples, see above; ignored by infinite.
    :param blocks: parts of a moving window.
    :param lowest: smallest forgetting factor per equation of constant_trace.
    """

    kind: str = 'infinite'
    samples: float = 1000.0
    blocks: int = 10
    lowest: float = 0.9

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise OptionError(f"no memory '{self.kind}': {did_you_mean(self.kind, KINDS)}")
        if not self.samples >= 1:
            raise OptionError(f'memory: samples = {self.samples}, must be at least 1')
        if not 1 <= self.blocks <= self.samples:
            raise OptionError(
                f'memory: blocks = {self.blocks}, must lie between 1 and samples = {self.samples}'
            )
        if not 0.0 < self.lowest <= 1.0:
            raise OptionError(f'memory: lowest = {self.lowest}, must lie in (0, 1]')

    @property
    def forgetting(self) -> float:
        """Factor on all older samples at each new one."""
        if self.kind != 'exponential':
            return 1.0
        return float(1.0 - 1.0 / self.samples) if self.samples > 1 else 0.5
