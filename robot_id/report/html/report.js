'use strict';
(() => {
  const numbers = JSON.parse(document.getElementById('numbers').textContent);
  const GAP = -32768, LEFT = 52, RIGHT = 8, TOP = 6, BOTTOM = 20, SPACE = 10;
  const NAMES = ['raw', 'measured', 'residual', 'position', 'velocity'];
  // The wide line stays visible below the narrow one where both coincide.
  const WIDTHS = { raw: 1, measured: 4 };

  // --- the samples -------------------------------------------------------------------------
  const decode = (text, step) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const values = new Float32Array(bytes.length / 2);
    for (let i = 0; i < values.length; i++) {
      const whole = view.getInt16(2 * i, true);
      values[i] = whole === GAP ? NaN : whole * step;
    }
    return values;
  };

  const unpack = (joint) => joint.runs.map((run) => {
    const found = { start: run.start, end: run.end, label: run.label };
    for (const name of NAMES) {
      if (run[name] !== undefined) found[name] = decode(run[name], joint[name + '_step']);
    }
    if (found.residual) found.predicted = found.measured.map((m, i) => m - found.residual[i]);
    return found;
  });

  class TimeAxis {
    constructor(set) {
      const runs = set.joints[0].runs;
      this.all = [runs[0].start, runs[runs.length - 1].end];
      this.range = [...this.all];
      this.plots = [];
    }
    set(low, high) {
      const least = (this.all[1] - this.all[0]) * 1e-4;
      if (high - low < least) return;
      const width = Math.min(high - low, this.all[1] - this.all[0]);
      low = Math.min(Math.max(low, this.all[0]), this.all[1] - width);
      this.range = [low, low + width];
      this.plots.forEach((plot) => plot.redraw());
    }
    zoom(factor, centre = (this.range[0] + this.range[1]) / 2) {
      this.set(centre + (this.range[0] - centre) * factor, centre + (this.range[1] - centre) * factor);
    }
    move(share) {
      const shift = share * (this.range[1] - this.range[0]);
      this.set(this.range[0] + shift, this.range[1] + shift);
    }
    act(what) {
      ({ in: () => this.zoom(0.5), out: () => this.zoom(2), left: () => this.move(-0.4),
        right: () => this.move(0.4), all: () => this.set(...this.all) })[what]();
    }
  }

  // --- drawing -----------------------------------------------------------------------------
  const ticks = (low, high, count) => {
    const raw = (high - low) / count, size = 10 ** Math.floor(Math.log10(raw));
    const within = (step) => {
      const found = [];
      for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) found.push(k * step);
      return found;
    };
    // Round steps from the wanted one down to finer ones: a single mark is no scale.
    const steps = [10, 5, 2, 1, 0.5, 0.2].map((f) => f * size);
    const wanted = Math.max(...steps.filter((s) => s >= raw * 0.8).map((s) => steps.indexOf(s)));
    const step = steps.slice(wanted).find((s) => within(s).length > 1);
    return { values: within(step), digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  };

  class Plot {
    constructor(figure, joint, axis) {
      this.canvas = figure.querySelector('canvas');
      this.output = figure.querySelector('output');
      this.joint = joint;
      this.axis = axis;
      this.runs = null;
      axis.plots.push(this);
      // One after the other, so that a long page shows its first plots at once.
      setTimeout(() => this.draw(), 0);
      new ResizeObserver(() => this.redraw()).observe(this.canvas);
      this.listen();
    }

    redraw() {
      this.stale = true;
      requestAnimationFrame(() => this.stale && this.draw());
    }

    across(t) {
      const [low, high] = this.axis.range;
      return LEFT + (t - low) / (high - low) * (this.width - LEFT - RIGHT);
    }

    timeAt(x) {
      const [low, high] = this.axis.range;
      return low + (x - LEFT) / (this.width - LEFT - RIGHT) * (high - low);
    }

    // First and last sample of a run that are in sight, one more on each side.
    window(run, values) {
      const n = values.length, step = (run.end - run.start) / Math.max(n - 1, 1) || 1;
      return [Math.max(0, Math.floor((this.axis.range[0] - run.start) / step) - 1),
        Math.min(n - 1, Math.ceil((this.axis.range[1] - run.start) / step) + 1), step];
    }

    extent(keys) {
      let low = Infinity, high = -Infinity;
      for (const run of this.runs) {
        for (const key of keys) {
          const [first, last] = this.window(run, run[key]);
          for (let i = first; i <= last; i++) {
            const v = run[key][i];
            if (v < low) low = v;
            if (v > high) high = v;
          }
        }
      }
      if (!(high >= low)) return [-1, 1];
      const pad = 0.06 * (high - low) || Math.abs(high) * 0.1 || 1;
      return [low - pad, high + pad];
    }

    draw() {
      this.stale = false;
      this.runs = this.runs || unpack(this.joint);
      const ratio = window.devicePixelRatio || 1;
      const box = this.canvas.getBoundingClientRect();
      [this.width, this.height] = [box.width, box.height];
      if (this.width < 80) return;
      this.canvas.width = Math.round(this.width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      const c = this.context = this.canvas.getContext('2d');
      c.scale(ratio, ratio);
      const style = getComputedStyle(document.documentElement);
      this.colour = (name) => style.getPropertyValue('--' + name).trim();
      const inside = this.height - TOP - BOTTOM - SPACE * (this.joint.panels.length - 1);
      let top = TOP;
      for (const { lines, unit, share } of this.joint.panels) {
        this.panel(top, top + share * inside, lines, unit);
        top += share * inside + SPACE;
      }
      if (this.runs.length > 1) this.borders();
      c.fillStyle = this.colour('muted');
      c.textAlign = 'center';
      const marks = ticks(...this.axis.range, Math.max(3, this.width / 100));
      for (const t of marks.values) {
        c.fillText(t.toFixed(marks.digits) + (t === marks.values[0] ? ' s' : ''),
          this.across(t), this.height - 6);
      }
      if (this.marked) {
        const [a, b] = this.marked;
        c.fillStyle = this.colour('select');
        c.fillRect(Math.min(a, b), TOP, Math.abs(b - a), this.height - TOP - BOTTOM);
      }
      this.canvas.dataset.drawn = 'yes';
    }

    panel(top, bottom, keys, unit) {
      const c = this.context, [low, high] = this.extent(keys);
      const up = (v) => bottom - (v - low) / (high - low) * (bottom - top);
      c.font = '10px system-ui, sans-serif';
      c.textAlign = 'right';
      c.lineWidth = 1;
      const marks = ticks(low, high, Math.max(3, (bottom - top) / 36));
      for (const v of marks.values) {
        c.strokeStyle = this.colour('line');
        c.beginPath(); c.moveTo(LEFT, up(v)); c.lineTo(this.width - RIGHT, up(v)); c.stroke();
        c.fillStyle = this.colour('muted');
        c.fillText(v.toFixed(marks.digits), LEFT - 5, up(v) + 3);
      }
      if (unit) { c.textAlign = 'left'; c.fillText(unit, 4, top + 8); }
      c.save();
      c.beginPath(); c.rect(LEFT, top, this.width - LEFT - RIGHT, bottom - top); c.clip();
      for (const key of keys) {
        c.strokeStyle = this.colour(key);
        c.lineWidth = WIDTHS[key] || 1.4;
        for (const run of this.runs) this.line(run, run[key], up);
      }
      c.restore();
    }

    // Where a recording begins, with its name.
    borders() {
      const c = this.context;
      c.save();
      c.beginPath(); c.rect(LEFT, 0, this.width - LEFT - RIGHT, this.height); c.clip();
      c.textAlign = 'left';
      this.runs.forEach((run, k) => {
        const begin = Math.max(this.across(run.start), LEFT), end = this.across(run.end);
        if (end < LEFT || begin > this.width - RIGHT) return;
        c.strokeStyle = c.fillStyle = this.colour('muted');
        if (k) {
          c.setLineDash([3, 3]);
          c.beginPath(); c.moveTo(begin, TOP); c.lineTo(begin, this.height - BOTTOM); c.stroke();
        }
        let text = run.label;
        const room = end - begin - 8;
        while (text && c.measureText(text).width > room) text = text.slice(0, -1);
        if (text.length > 2) c.fillText(text, begin + 4, this.height - BOTTOM - 4);
      });
      c.restore();
    }

    // With many samples in one column of pixels only their extremes are drawn.
    line(run, values, up) {
      const c = this.context, [first, last, step] = this.window(run, values);
      const dense = (last - first) > 3 * this.width;
      let pen = false, column = -1, low = 0, high = 0;
      c.beginPath();
      for (let i = first; i <= last; i++) {
        const v = values[i];
        if (Number.isNaN(v)) { pen = false; column = -1; continue; }
        const x = this.across(run.start + i * step);
        if (!dense) {
          if (pen) c.lineTo(x, up(v)); else c.moveTo(x, up(v));
        } else {
          const here = Math.round(x);
          if (here === column) {
            low = Math.min(low, v); high = Math.max(high, v);
            if (i < last) continue;
          }
          if (column >= 0) { c.lineTo(column, up(low)); c.lineTo(column, up(high)); }
          if (!pen) c.moveTo(here, up(v));
          column = here; low = high = v;
        }
        pen = true;
      }
      c.stroke();
    }

    // --- pointer and keys ------------------------------------------------------------------
    listen() {
      const canvas = this.canvas, pointers = new Map();
      const place = (event) => event.clientX - canvas.getBoundingClientRect().left;
      let pinch = null;
      canvas.addEventListener('pointerdown', (event) => {
        pointers.set(event.pointerId, place(event));
        if (pointers.size === 2) { this.marked = null; pinch = null; }
        else if (event.pointerType === 'mouse') {
          canvas.setPointerCapture(event.pointerId);
          this.marked = [place(event), place(event)];
        }
      });
      canvas.addEventListener('pointermove', (event) => {
        const x = place(event);
        if (pointers.has(event.pointerId)) pointers.set(event.pointerId, x);
        if (pointers.size === 2) {
          const [a, b] = [...pointers.values()], wide = Math.max(Math.abs(a - b), 8);
          if (pinch) this.axis.zoom(pinch / wide, this.timeAt((a + b) / 2));
          pinch = wide;
        } else if (this.marked) { this.marked[1] = x; this.redraw(); }
        this.read(x);
      });
      const end = (event) => {
        pointers.delete(event.pointerId);
        pinch = null;
        if (!this.marked) return;
        const [a, b] = this.marked.map((x) => this.timeAt(x)).sort((p, q) => p - q);
        const wide = Math.abs(this.marked[1] - this.marked[0]);
        this.marked = null;
        if (wide > 6) this.axis.set(Math.max(a, this.axis.range[0]), Math.min(b, this.axis.range[1]));
        else this.redraw();
      };
      canvas.addEventListener('pointerup', end);
      canvas.addEventListener('pointercancel', end);
      canvas.addEventListener('pointerleave', () => { this.output.textContent = ''; });
      canvas.addEventListener('dblclick', () => this.axis.act('all'));
      canvas.addEventListener('keydown', (event) => {
        const what = { '+': 'in', '=': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right',
          Escape: 'all', 0: 'all' }[event.key];
        if (what) { event.preventDefault(); this.axis.act(what); }
      });
    }

    read(x) {
      if (!this.runs || !this.width) return;
      const t = this.timeAt(x);
      for (const run of this.runs) {
        if (t < run.start || t > run.end) continue;
        const share = (t - run.start) / (run.end - run.start);
        const text = (values) => {
          const v = values[Math.round(share * (values.length - 1))];
          return Number.isNaN(v) ? '–' : v.toPrecision(4);
        };
        const parts = this.joint.panels.flatMap(({ lines, unit }) =>
          lines.map((name) => `${name} ${text(run[name])} ${unit}`));
        const place = this.runs.length > 1 ? `${run.label}, ` : '';
        this.output.textContent = `${place}${t.toFixed(3)} s: ${parts.join(', ')}`;
        return;
      }
      this.output.textContent = '';
    }
  }

  const axes = {};
  for (const [key, set] of Object.entries(numbers.sets)) axes[key] = new TimeAxis(set);
  for (const figure of document.querySelectorAll('.plot')) {
    const key = figure.dataset.set;
    new Plot(figure, numbers.sets[key].joints[figure.dataset.joint], axes[key]);
  }
  for (const button of document.querySelectorAll('button[data-zoom]')) {
    button.addEventListener('click', () => axes[button.dataset.set].act(button.dataset.zoom));
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    Object.values(axes).forEach((axis) => axis.plots.forEach((plot) => plot.redraw()));
  });

  // --- tables that sort, the cell of the correlation, files to save -----------------------
  for (const table of document.querySelectorAll('table.sortable')) {
    [...table.tHead.rows[0].cells].forEach((head, k) => head.addEventListener('click', () => {
      const way = head.dataset.way === '1' ? -1 : 1;
      [...table.tHead.rows[0].cells].forEach((other) => delete other.dataset.way);
      head.dataset.way = way;
      const value = (row) => {
        const text = row.cells[k].textContent.trim(), figure = parseFloat(text);
        return [Number.isNaN(figure) ? Infinity : figure, text];
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [p, s] = value(a), [q, t] = value(b);
        return way * (p === q ? s.localeCompare(t, undefined, { numeric: true }) : p - q);
      });
      table.tBodies[0].append(...rows);
    }));
  }
  const matrix = document.getElementById('matrix'), cell = document.getElementById('cell');
  if (matrix) {
    matrix.addEventListener('pointermove', (event) => {
      const box = matrix.getBoundingClientRect(), b = numbers.names.length;
      const k = Math.min(b - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * b)));
      const i = Math.min(b - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * b)));
      cell.textContent = `${numbers.names[i]} and ${numbers.names[k]}: `
        + numbers.correlation[i][k].toFixed(3);
    });
  }
  const files = { ...numbers.files, 'result.json': JSON.stringify(numbers.result, null, 1) + '\n' };
  for (const link of document.querySelectorAll('a[download]')) {
    link.href = URL.createObjectURL(new Blob([files[link.download]], { type: 'text/plain' }));
  }
  document.documentElement.dataset.ready = 'yes';
})();
