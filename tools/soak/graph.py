"""The processes of the graph: start, kill, memory, and what they logged."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from running.node_process import NodeProcess

START_S = 180.0
# After this a process has all it needs; from then on it may grow by no more than 5 %.
SETTLED_S, GROWTH = 90.0, 1.05
_WORRY = re.compile(r'\[(WARN|ERROR|FATAL)\]\s*(?:\[[^\]]*\]\s*)*:?\s*(.*)')


@dataclass
class Memory:
    """
    Resident memory of one process.

    :param settled_kb: largest in its first minute and a half, 0 until then.
    """

    name: str
    since: float = field(default_factory=time.monotonic)
    early_kb: int = 0
    settled_kb: int = 0
    now_kb: int = 0
    most_kb: int = 0


class Graph:
    """
    The nodes by name.

    :param settings: parameters of each.
    """

    def __init__(self, settings: dict[str, dict[str, Any]]) -> None:
        self.settings = settings
        self.nodes: dict[str, NodeProcess] = {}
        self.memory: dict[int, Memory] = {}
        self.grown: list[Memory] = []
        self._read: dict[str, int] = {}

    def start(self, name: str) -> float:
        """Start a node, wait until it is ready, and return the seconds that it took."""
        begun = time.monotonic()
        process = NodeProcess(name, parameters=self.settings[name])
        process.__enter__()
        self.nodes[name] = process
        self._read[name] = 0
        process.wait_for_log('ready', START_S)
        return time.monotonic() - begun

    def kill(self, name: str) -> list[int]:
        """Kill a node alone (kill -9) and return the processes that it had started."""
        node = self.nodes[name]
        helpers = descendants(node.process.pid)
        node.process.kill()
        node.process.wait()
        return helpers

    def forget(self, name: str) -> None:
        """Remove the rest of a killed node."""
        self.nodes.pop(name).__exit__()

    def dead(self) -> list[str]:
        """Return what ended by itself, with the end of its log."""
        found = []
        for name, node in self.nodes.items():
            if (code := node.process.poll()) is not None:
                lines = node.log.strip().splitlines()
                found.append(f'{name} ended by itself ({code}): {" | ".join(lines[-3:])}')
        return found

    def news(self) -> list[str]:
        """Return the warnings and errors since the last time, each once, with their node."""
        found: dict[str, int] = {}
        for name, node in self.nodes.items():
            text = node.log
            new, self._read[name] = text[self._read.get(name, 0) :], len(text)
            if 'Traceback' in new:
                found[f'{name}: TRACEBACK {new[-1500:]}'] = 1
            for match in _WORRY.finditer(new):
                line = f'{name}: {match[2][:110]}'
                found[line] = found.get(line, 0) + 1
        return [line + (f' ({count} times)' if count > 1 else '') for line, count in found.items()]

    def measure(self) -> list[str]:
        """Look at the memory of all processes; return those that grew by more than 5 %."""
        broken, seen = [], set()
        for name, node in self.nodes.items():
            for pid in [node.process.pid, *descendants(node.process.pid)]:
                if not (now := resident_kb(pid)):
                    continue
                seen.add(pid)
                known = self.memory.setdefault(pid, Memory(_title(name, node, pid)))
                known.now_kb = now
                known.most_kb = max(known.most_kb, now)
                if time.monotonic() - known.since < SETTLED_S:
                    known.early_kb = max(known.early_kb, now)
                    continue
                if not known.settled_kb:
                    known.settled_kb = max(known.early_kb, now)
                if now > GROWTH * known.settled_kb:
                    broken.append(f'{known.name} grew from {known.settled_kb} to {now} kB')
                    known.settled_kb = now
        for pid in set(self.memory) - seen:
            self.grown.append(self.memory.pop(pid))
        return broken

    def stop(self) -> list[str]:
        """End all nodes as Ctrl-C does; return those that did not end well."""
        alive = {name: node for name, node in self.nodes.items() if node.process.poll() is None}
        for node in alive.values():
            node.interrupt()
        return [
            f'{name} ended with {code} after Ctrl-C'
            for name, node in alive.items()
            if (code := node.stop()) != 0
        ]

    def close(self) -> None:
        """Remove everything."""
        for node in self.nodes.values():
            node.__exit__()


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    found = []
    for file in Path(f'/proc/{pid}/task').glob('*/children'):
        try:
            children = [int(each) for each in file.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def resident_kb(pid: int) -> int:
    """Return the resident memory of a process, 0 when it is gone."""
    try:
        text = Path(f'/proc/{pid}/status').read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if 'VmRSS' in line), 0)


def _title(name: str, node: NodeProcess, pid: int) -> str:
    return name if pid == node.process.pid else f'{name} (helper process)'
