"""How people write units, in names of columns and in the row below them."""

from __future__ import annotations

import unicodedata

# Lower case without blanks -> the unit of a mapping.
UNITS: dict[str, str] = {
    's': 's', 'sec': 's', 'secs': 's', 'seconds': 's', 'ms': 'ms', 'msec': 'ms', 'us': 'us',
    'usec': 'us', 'µs': 'us', 'μs': 'us', 'ns': 'ns', 'nsec': 'ns', 'min': 'min',
    'rad': 'rad', 'radian': 'rad', 'radians': 'rad', 'mrad': 'mrad',
    'deg': 'deg', 'degree': 'deg', 'degrees': 'deg', 'grad': 'deg', '°': 'deg', 'graus': 'deg',
    'grados': 'deg', 'gradi': 'deg', 'degres': 'deg', 'stopnie': 'deg', 'rev': 'rev',
    'revs': 'rev', 'turn': 'rev', 'turns': 'rev', 'umdr': 'rev',
    'm': 'm', 'cm': 'cm', 'mm': 'mm', 'um': 'um', 'µm': 'um',
    'count': 'counts', 'counts': 'counts', 'cnt': 'counts', 'cts': 'counts', 'tick': 'counts',
    'ticks': 'counts', 'inc': 'counts', 'inkr': 'counts', 'increments': 'counts', 'imp': 'counts',
    'inkremente': 'counts', 'impulsos': 'counts', 'impulsions': 'counts', 'lsb': 'counts',
    'rad/s': 'rad/s', 'rads': 'rad/s', 'rad/sec': 'rad/s', 'rad.s-1': 'rad/s', 'radps': 'rad/s',
    'rads-1': 'rad/s', 'rad_s': 'rad/s', 'rad_per_s': 'rad/s', 'rad*s^-1': 'rad/s',
    'deg/s': 'deg/s', 'degs': 'deg/s', 'degps': 'deg/s', 'dps': 'deg/s', '°/s': 'deg/s',
    'deg_s': 'deg/s', 'deg_per_s': 'deg/s', 'grad/s': 'deg/s', 'grad_s': 'deg/s',
    'deg/sec': 'deg/s',
    'rev/s': 'rev/s', 'rev_s': 'rev/s', 'rps': 'rev/s', 'm/s': 'm/s', 'm_s': 'm/s',
    'mm/s': 'mm/s', 'mm_s': 'mm/s', 'mrad/s': 'mrad/s', 'mrad_s': 'mrad/s',
    'rpm': 'rpm', 'u/min': 'rpm', '1/min': 'rpm', 'tr/min': 'rpm', 'rev/min': 'rpm',
    'min-1': 'rpm', 'giri/min': 'rpm', 'upm': 'rpm', 'obr/min': 'rpm', 'об/мин': 'rpm',
    'rad/s2': 'rad/s^2', 'rad/s^2': 'rad/s^2', 'rad/s²': 'rad/s^2', 'rad_s2': 'rad/s^2',
    'deg/s2': 'deg/s^2', 'deg/s^2': 'deg/s^2', 'deg/s²': 'deg/s^2', 'deg_s2': 'deg/s^2',
    '°/s²': 'deg/s^2', '°/s^2': 'deg/s^2',
    'nm': 'N.m', 'n.m': 'N.m', 'n*m': 'N.m', 'n·m': 'N.m', 'n-m': 'N.m', 'newtonmeter': 'N.m',
    'mnm': 'mN.m', 'mn.m': 'mN.m', 'mn·m': 'mN.m', 'ncm': 'N.cm', 'n.cm': 'N.cm', 'n': 'N',
    'nmm': 'N.mm', 'n.mm': 'N.mm', 'kn': 'kN', 'knm': 'kN.m', 'н·м': 'N.m', 'нм': 'N.m',
    'a': 'A', 'amp': 'A', 'ampere': 'A', 'amps': 'A', 'ma': 'mA', 'milliamps': 'mA', '安': 'A',
    'v': 'V', 'volt': 'V', 'mv': 'mV', '%': '%', 'pct': '%', 'percent': '%', 'prozent': '%',
    'degc': 'degC', '°c': 'degC', 'c': 'degC', 'celsius': 'degC',
    '弧度': 'rad', '度': 'deg', '秒': 's', '毫秒': 'ms', 'рад': 'rad', 'град': 'deg',
    'рад/с': 'rad/s', 'с': 's', 'мс': 'ms',
}  # fmt: skip


def plain(text: str) -> str:
    """Return lower case without accents."""
    kept = unicodedata.normalize('NFKD', text.replace('ß', 'ss').replace('ł', 'l'))
    bare = ''.join(sign for sign in kept if not unicodedata.combining(sign))
    return unicodedata.normalize('NFKC', bare).lower()


def unit_of(text: str) -> str | None:
    """Return the unit of a mapping that a text stands for, with brackets or without."""
    return UNITS.get(plain(text).replace(' ', '').strip('[](){}<>'))
