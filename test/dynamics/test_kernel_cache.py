"""Kernels on the disk are forgotten when what they are made of has changed, and only then."""

import numba

from robot_id.dynamics.kernel_cache import forget_if_changed


def test_a_change_of_a_source_forgets_the_kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, 'CACHE_DIR', str(tmp_path))
    source, kernel, other = (
        tmp_path / name for name in ('law.py', 'x/loop.run-1.nbi', 'x/other.run-1.nbi')
    )
    kernel.parent.mkdir()

    def left(text):
        source.write_text(text)
        for path in (kernel, other):
            path.touch()
        forget_if_changed('laws', [source], 'loop.*')
        return kernel.exists(), other.exists()

    assert left('one') == (False, True)
    assert left('one') == (True, True)
    assert left('two') == (False, True)
    assert left('two') == (True, True)
