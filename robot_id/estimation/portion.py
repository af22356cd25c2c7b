"""Progress of one part of a longer work."""

from robot_id.progress import Progress


def portion(progress: Progress, start: float, end: float, part: str = '') -> Progress:
    """Return a callback that maps the fractions 0 to 1 of a part to start to end of the whole."""

    def report(fraction: float, text: str = '') -> None:
        progress(start + (end - start) * fraction, text or part)

    return report
