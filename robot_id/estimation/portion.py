"""Progress of one part of a longer work."""

from robot_id.progress import Progress


def portion(progress: Progress, start: float, end: float, text: str = '') -> Progress:
    """Return a callback that maps the fractions 0 to 1 of a part to start to end of the whole."""

    def report(fraction: float, detail: str = '') -> None:
        progress(start + (end - start) * fraction, detail or text)

    return report
