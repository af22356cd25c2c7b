"""Mutations that know a format: its parts are moved, repeated or wrong, its borders are right."""

from __future__ import annotations

import gzip
import io
import random
import sqlite3
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import h5py
import numpy as np
import scipy.io
from rosbags.rosbag2 import StoragePlugin, Writer

from robot_id.data.io.bags.mcap_records import MAGIC
from robot_id.data.io.bags.mcap_scan import McapScan
from tools.fuzz.mutate import HUGE, VALUES, damage, damage_text
from tools.running.typestore import typestore

Draw = random.Random
DOUBLES = (float('nan'), float('inf'), 1e308, -1e308, 5e-324, 0.0, 1e12)
# Arrays that no recording is made of.
ODD: tuple[Any, ...] = (
    np.zeros(0), np.zeros((0, 3)), np.zeros((1, 1)), np.zeros((3, 400, 2)), np.full(400, np.nan),
    np.full(400, 1e308), np.arange(400) * 1e-310, np.arange(400)[::-1] * 1.0, np.zeros(400),
    np.array('text'), np.array(['a', 'b']), np.arange(400) * 1j, np.arange(400, dtype='>i2'),
    np.zeros(400, bool), np.array([(1, 2.0)], dtype=[('a', 'i4'), ('b', 'f8')]),
    np.arange(400).astype('M8[s]'), np.full(400, 2**63 - 1), np.float64(3.0),
)  # fmt: skip


def records(raw: bytes, draw: Draw) -> bytes:
    """Remove, repeat or swap whole records of an mcap file, or cut it between two."""
    parts, at = [], len(MAGIC)
    while at + 9 <= len(raw) - len(MAGIC):
        (size,) = struct.unpack_from('<Q', raw, at + 1)
        parts.append(raw[at : at + 9 + size])
        at += 9 + size
    one, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    kind = draw.randrange(6)
    if kind == 0:
        del parts[one]
    elif kind == 1:
        parts[other:other] = [parts[one]] * draw.choice((1, 2, 50))
    elif kind == 2:
        parts[one], parts[other] = parts[other], parts[one]
    elif kind == 3:
        return MAGIC + b''.join(parts[:one])
    elif kind == 4:
        code = draw.choice((*range(16), 0x80, 0xFF))
        parts[one] = bytes([code]) + parts[one][1:]
    else:
        size = draw.choice((*HUGE, 0, 1, len(parts[one]) - 8, len(parts[one]) - 10))
        parts[one] = parts[one][:1] + struct.pack('<Q', size % 2**64) + parts[one][9:]
    return MAGIC + b''.join(parts) + MAGIC


def mcap(raw: bytes, draw: Draw) -> bytes:
    """Change the records of an mcap file, or the messages in them with right checksums."""
    return records(raw, draw) if draw.random() < 0.5 else messages(raw, draw)


def messages(raw: bytes, draw: Draw) -> bytes:
    """Write the messages of a bag anew: others in content, order, time, topic or type."""
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / 'given.mcap'
        given.write_bytes(raw)
        scan = McapScan(given)
        found = list(scan.messages())
        kinds = {topic.name: topic.type for topic in scan.topics.values()}
        kind = draw.randrange(6)
        share = draw.choice((0.01, 0.3, 1.0))
        for k, (topic, received, content) in enumerate(found):
            if draw.random() > share:
                continue
            if kind == 0:
                content = damage(bytes(content), draw)
            elif kind == 1:
                received = draw.choice((0, 2**62, received - draw.randrange(10**9), received))
            elif kind == 2:
                topic = draw.choice(list(kinds))
            elif kind == 3:
                content = bytes(content)[: draw.randrange(len(content) + 1)]
            elif kind == 4:
                at = draw.randrange(4, max(len(content) - 8, 5))
                content = bytes(content)[:at] + struct.pack('<d', draw.choice(DOUBLES))
                content += bytes(found[k][2])[at + 8 :]
            else:
                content = found[draw.randrange(len(found))][2]
            found[k] = (topic, max(received, 0), content)
        if draw.random() < 0.2:
            draw.shuffle(found)
        if draw.random() < 0.1:
            names = list(kinds.values())
            draw.shuffle(names)
            kinds = dict(zip(kinds, names))
        writer = Writer(Path(folder) / 'bag', version=9, storage_plugin=StoragePlugin.MCAP)
        with writer:
            topics = {
                topic: writer.add_connection(topic, own, typestore=typestore())
                for topic, own in kinds.items()
            }
            for topic, received, content in found:
                writer.write(topics[topic], received, bytes(content))
        return next((Path(folder) / 'bag').glob('*.mcap')).read_bytes()


def matlab(raw: bytes, draw: Draw) -> bytes:
    """Put odd variables into a MATLAB file of version 5, or change the tags of its elements."""
    return variables(raw, draw) if draw.random() < 0.6 else tags(raw, draw)


def tags(raw: bytes, draw: Draw) -> bytes:
    """Give elements of a MATLAB file of version 5 other types, sizes or dimensions."""
    content = {k: v for k, v in scipy.io.loadmat(io.BytesIO(raw)).items() if k[:2] != '__'}
    file = io.BytesIO()
    scipy.io.savemat(file, content, do_compression=False)
    data = bytearray(file.getvalue())
    places, at = [], 128
    while at + 8 <= len(data):
        kind, size = struct.unpack_from('<II', data, at)
        small = kind >> 16
        places.append(at)
        # A matrix holds elements of its own; the small form has its values in the tag.
        at += 8 if kind == 14 or small else 8 + size + (-size % 8)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.choice(places)
        which = draw.randrange(3)
        if which == 0:
            struct.pack_into('<I', data, at, draw.choice((*range(20), *HUGE)) % 2**32)
        elif which == 1:
            struct.pack_into('<I', data, at + 4, draw.choice(HUGE) % 2**32)
        else:
            struct.pack_into('<i', data, min(at + 8, len(data) - 4), draw.choice((-1, 0, 2**30)))
    return bytes(data)


def archive(raw: bytes, draw: Draw) -> bytes:
    """Put odd arrays, headers or members into an npz."""
    with zipfile.ZipFile(io.BytesIO(raw)) as given:
        members = {name: given.read(name) for name in given.namelist()}
    name = draw.choice(list(members))
    kind = draw.randrange(5)
    if kind == 0:
        file = io.BytesIO()
        np.save(file, draw.choice(ODD))
        members[name] = file.getvalue()
    elif kind == 1:
        members[name] = damage(members[name][:128], draw) + members[name][128:]
    elif kind == 2:
        members[name] = damage_text(members[name][:128], draw) + members[name][128:]
    elif kind == 3:
        members[draw.choice(('x', '/x.npy', '../x.npy', 'x' * 999, name[:-4]))] = members[name]
    else:
        members.pop(name)
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', draw.choice((0, 8, 12, 14))) as made:
        for each, content in members.items():
            made.writestr(each, content)
    return file.getvalue()


def variables(raw: bytes, draw: Draw) -> bytes:
    """Put odd arrays, structs or cells into a MATLAB file of version 5."""
    content = {k: v for k, v in scipy.io.loadmat(io.BytesIO(raw)).items() if k[:2] != '__'}
    deep: Any = {'x': 1.0}
    for _ in range(draw.choice((1, 3, 30))):
        deep = {'x': deep}
    cells = np.empty(3, dtype=object)
    cells[:] = ['a', 1.0, np.zeros(3)]
    plain = [x for x in ODD if np.asarray(x).dtype.kind not in 'MV']
    content[draw.choice((*content, 'x'))] = draw.choice((*plain, deep, cells))
    if draw.random() < 0.3:
        content.pop(draw.choice(list(content)))
    file = io.BytesIO()
    scipy.io.savemat(file, content, do_compression=draw.random() < 0.5)
    return file.getvalue()


def datasets(raw: bytes, draw: Draw) -> bytes:
    """Put odd datasets, groups and links into a MATLAB file of version 7.3."""
    file = io.BytesIO(raw)
    with h5py.File(file, 'a') as content:
        name = draw.choice(list(content))
        kind = draw.randrange(6)
        if kind != 3:
            del content[name]
        if kind == 0:
            odd = draw.choice([x for x in ODD if np.asarray(x).dtype.kind not in 'MU'])
            content[name] = odd
        elif kind == 1:
            shape = draw.choice(((10**12,), (10**6, 10**6), (2**40, 1)))
            content.create_dataset(name, shape, 'f8', chunks=True)
        elif kind == 2:
            content[name] = h5py.ExternalLink('/etc/hostname', '/')
        elif kind == 3:
            content[draw.choice(('x/y/z', 'a' * 999, 'é'))] = h5py.SoftLink('/' + name)
        elif kind == 4:
            content.create_group(name)['loop'] = h5py.SoftLink('/')
        else:
            content[name] = np.array([b'text'] * 3, dtype=h5py.string_dtype())
    return file.getvalue()


def tables(raw: bytes, draw: Draw) -> bytes:
    """Let rows and tables of a db3 file hold what they must not."""
    with tempfile.NamedTemporaryFile(suffix='.db3') as file:
        Path(file.name).write_bytes(raw)
        base = sqlite3.connect(file.name)
        value = draw.choice((
            'NULL', "'text'", '-1', '9223372036854775807', '1e300', "X''", 'zeroblob(100000)',
            'randomblob(60)', "X'00010000FFFFFFFF'",
        ))  # fmt: skip
        tables = [
            row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        table = draw.choice(tables)
        columns = [row[1] for row in base.execute(f'PRAGMA table_info({table})')]
        column = draw.choice(columns)
        some = draw.choice(('', f'WHERE rowid % {draw.choice((2, 7, 100))} = 0'))
        change = draw.choice((
            f'UPDATE {table} SET "{column}" = {value} {some}',
            f'UPDATE {table} SET "{column}" = {value} {some}',
            f'DELETE FROM {table} {some}',
            f'DROP TABLE {table}',
            f'ALTER TABLE {table} RENAME COLUMN "{column}" TO x',
        ))  # fmt: skip
        try:
            base.execute(change)
            base.commit()
        except sqlite3.Error:
            pass
        base.close()
        return Path(file.name).read_bytes()


def elements(raw: bytes, draw: Draw) -> bytes:
    """Remove, repeat, move or change elements and attributes of a URDF."""
    root = ElementTree.fromstring(raw)
    for _ in range(draw.choice((1, 1, 2, 4))):
        nodes = list(root.iter())
        node, other = draw.choice(nodes), draw.choice(nodes)
        children = list(node)
        kind = draw.randrange(6)
        if kind == 0 and children:
            node.remove(draw.choice(children))
        elif kind == 1 and other is not root and node not in other.iter():
            node.append(other)
        elif kind == 2 and node.attrib:
            node.attrib.pop(draw.choice(list(node.attrib)))
        elif kind == 3 and node.attrib:
            clean = ''.join(c for c in str(draw.choice(VALUES)) if c.isprintable())
            node.set(draw.choice(list(node.attrib)), clean)
        elif kind == 4 and node.attrib and other.attrib:
            node.set(draw.choice(list(node.attrib)), draw.choice(list(other.attrib.values())))
        else:
            node.tag = draw.choice(('link', 'joint', 'inertial', 'x', 'mass', other.tag))
    return ElementTree.tostring(root)


def zipped(raw: bytes, draw: Draw) -> bytes:
    """Damage what is inside a gzip file."""
    text = gzip.decompress(raw)
    return gzip.compress(draw.choice((damage, damage_text, columns))(text, draw), 1, mtime=0)


def columns(raw: bytes, draw: Draw) -> bytes:
    """Swap, repeat, scale or empty whole columns of a csv, or change how it is written."""
    rows = [line.split(b',') for line in raw.splitlines()]
    width = len(rows[0])
    one, other = draw.randrange(width), draw.randrange(width)
    kind = draw.randrange(7)
    factor = draw.choice((0.0, -1.0, 1e-300, 1e3, 1e300, 5e-324, float('inf')))
    for k, row in enumerate(rows):
        if kind == 0:
            row[one], row[other] = row[other], row[one]
        elif kind == 1:
            row.append(row[one])
        elif kind == 2 and k:
            row[one] = repr(factor * float(row[one])).encode()
        elif kind == 3 and k:
            row[one] = draw.choice((b'', b'nan', b'1,5', b'"', b'x', row[one]))
        elif kind == 4:
            del row[one]
        elif kind == 5 and k and draw.random() < 0.01:
            row[:] = row * draw.choice((0, 2, 100))
    sign, end = draw.choice(((b',', b'\n'), (b';', b'\r\n'), (b'\t', b'\r'), (b' ', b'\n')))
    start = draw.choice((b'', b'', b'\xef\xbb\xbf', b'\xff\xfe', b'# x\n', b'\n' * 50))
    return start + end.join(sign.join(row) for row in rows)
