// @ts-check
// What pages can do beyond forms and links: live numbers, keys, the theme, and dialogs in older browsers.

/** @param {string} id */
const byId = (id) => document.getElementById(id);
const html = document.documentElement;

// Theme: the server renders it from this cookie, so no page flashes.
const theme = byId('theme');
if (theme) {
  theme.hidden = false;
  theme.addEventListener('click', () => {
    const dark = html.dataset.theme ? html.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    html.dataset.theme = dark ? 'light' : 'dark';
    document.cookie = `keeper-theme=${html.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
    charts.forEach((chart) => chart.redraw());
  });
}

// Dialogs open by themselves where the browser knows commandfor.
if (!('commandForElement' in HTMLButtonElement.prototype)) {
  document.addEventListener('click', (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest?.('button[commandfor]');
    const dialog = button && /** @type {HTMLDialogElement} */ (byId(button.getAttribute('commandfor') ?? ''));
    if (!dialog) return;
    button.getAttribute('command') === 'close' ? dialog.close() : dialog.showModal();
  });
}

// Copy: a click selects, and copies where the browser lets us.
document.addEventListener('click', (event) => {
  const input = /** @type {HTMLInputElement} */ (/** @type {HTMLElement} */ (event.target).closest?.('.copy input'));
  if (!input) return;
  input.select();
  navigator.clipboard?.writeText(input.value).then(() => say('Copied'), () => {});
});

let saidAt = 0;
/** @param {string} text */
function say(text) {
  const now = Date.now();
  const place = byId('announce');
  if (place && now - saidAt > 10000) { place.textContent = text; saidAt = now; }
}

// Keys.
let afterG = 0;
document.addEventListener('keydown', (event) => {
  const at = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || at.closest('input, textarea, select, dialog')) return;
  if (event.key === '/') {
    const filter = byId('filter');
    if (filter) { event.preventDefault(); filter.focus(); }
  } else if (event.key === '?') {
    /** @type {HTMLDialogElement} */ (byId('keys'))?.showModal();
  } else if (Date.now() - afterG < 1500) {
    afterG = 0;
    /** @type {HTMLAnchorElement | null} */ (document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`))?.click();
  } else if (event.key === 'g') {
    afterG = Date.now();
  } else if (event.key === 'j' || event.key === 'k') {
    move(event.key === 'j' ? 1 : -1);
  } else if (event.key === 'Enter' && at === document.body) {
    /** @type {HTMLAnchorElement | null} */ (document.querySelector('tr.at a'))?.click();
  }
});

/** @param {number} by */
function move(by) {
  const rows = [...document.querySelectorAll('table.rows tbody tr')];
  const now = rows.findIndex((row) => row.classList.contains('at'));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now + by))];
  rows[now]?.classList.remove('at');
  next?.classList.add('at');
  /** @type {HTMLElement | null} */ (next?.querySelector('a'))?.focus();
}

// Charts: the pictures that the server drew become live ones.
/** @type {Map<string, any>} */
const charts = new Map();
/** @type {Record<string, number[][]>} */
let series = {};
const LINES = { rates: ['in', 'out'], depth: ['depth'], age: ['age'] };

/** @param {string} name */
const colour = (name) => getComputedStyle(html).getPropertyValue(name).trim();

async function startCharts() {
  const place = byId('charts');
  // @ts-ignore uPlot comes from its own file
  if (!place || typeof uPlot === 'undefined') return;
  const queue = place.dataset.queue;
  const answer = await fetch('/ui/samples' + (queue ? '?queue=' + encodeURIComponent(queue) : ''));
  if (!answer.ok) return;
  const data = await answer.json();
  const at = data.at.map((/** @type {string} */ time) => Date.parse(time) / 1000);
  for (const [key, names] of Object.entries(LINES)) {
    const plot = /** @type {HTMLElement | null} */ (place.querySelector(`[data-chart="${key}"]`));
    if (!plot) continue;
    series[key] = [at.slice(), ...names.map((name) => data[name])];
    const colours = { in: '--accent', out: '--ok', depth: '--accent', age: '--warn' };
    const axis = { stroke: () => colour('--muted'), grid: { stroke: () => colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    plot.replaceChildren();
    // @ts-ignore
    charts.set(key, new uPlot({
      width: plot.clientWidth, height: 110, padding: [6, 8, 0, 0], legend: { show: false }, cursor: { y: false, points: { size: 5 } },
      scales: { x: { range: (/** @type {any} */ u, /** @type {number} */ min, /** @type {number} */ max) => [Math.min(min ?? 0, (max ?? 0) - 120), max ?? 0] }, y: { range: (/** @type {any} */ u, /** @type {number} */ min, /** @type {number} */ max) => [0, Math.max(1, (max ?? 1) * 1.1)] } },
      axes: [{ ...axis, space: 70, size: 22, values: (/** @type {any} */ u, /** @type {number[]} */ values) => values.map((value) => new Date(value * 1000).toTimeString().slice(0, 5)) }, { ...axis, size: 44, space: 22 }],
      series: [{}, ...names.map((name) => ({ label: name, stroke: () => colour(colours[/** @type {'in'} */ (name)]), width: 1.5, points: { show: false } }))],
    }, series[key], plot));
  }
}
addEventListener('resize', () => charts.forEach((chart) => chart.setSize({ width: chart.root.parentElement.clientWidth, height: 110 })));

/** @param {any} point */
function addPoint(point) {
  const at = Date.parse(point.at) / 1000;
  for (const [key, chart] of charts) {
    const all = series[key];
    all[0].push(at);
    LINES[/** @type {'rates'} */ (key)].forEach((name, i) => all[i + 1].push(point[name] ?? 0));
    if (all[0].length > 900) all.forEach((list) => list.shift());
    chart.setData(all);
    const now = document.querySelector(`[data-now="${key}"]`);
    if (now) now.textContent = key === 'rates' ? `${point.in ?? 0} in, ${point.out ?? 0} out` : key === 'age' ? `${Math.round(point.age * 10) / 10} s` : String(point.depth);
  }
}

// Live: one stream per page, closed while hidden. A refresh waits while the reader points, types or selects.
const live = byId('live');
const pause = byId('pause');
const fresh = byId('fresh');
const stale = byId('stale');
/** @type {EventSource | null} */
let source = null;
let paused = false;
let goodAt = Date.now();
let lastRefresh = 0;

function isBusy() {
  return !!document.querySelector('dialog[open]') || !!document.querySelector('#live .rows:hover') ||
    !!document.activeElement?.closest('#live input, #live textarea, #live select') || String(getSelection()) !== '';
}

function refresh() {
  const region = byId('live');
  if (!region) return;
  lastRefresh = Date.now();
  if (fresh) fresh.hidden = true;
  region.dispatchEvent(new CustomEvent('keeper-refresh'));
}

/** @param {string} why */
function markStale(why) {
  byId('live')?.classList.add('is-stale');
  if (stale) { stale.hidden = false; stale.textContent = `${why}; shown is what was ${Math.round((Date.now() - goodAt) / 1000)} s ago`; }
}

// A refusal is not swapped in: what was read last stays.
document.addEventListener('htmx:before:response', (event) => {
  const status = /** @type {any} */ (event).detail?.ctx?.response?.status ?? 0;
  if (status >= 400) { event.preventDefault(); markStale('The server answered ' + status); return; }
  goodAt = Date.now();
  byId('live')?.classList.remove('is-stale');
  if (stale) stale.hidden = true;
});
document.addEventListener('htmx:error', () => markStale('The server does not answer'));

function open() {
  const region = byId('live');
  if (!region || paused || document.hidden || source) return;
  const queue = region.dataset.live;
  source = new EventSource('/ui/live' + (queue && queue !== 'all' ? '?queue=' + encodeURIComponent(queue) : ''));
  source.addEventListener('sample', (event) => {
    addPoint(JSON.parse(/** @type {MessageEvent} */ (event).data));
    if (Date.now() - lastRefresh < 1500) return;
    if (isBusy()) { if (fresh) fresh.hidden = false; } else refresh();
  });
  source.addEventListener('error', () => markStale('The connection is lost'));
}

function close() {
  source?.close();
  source = null;
}

if (live && pause) {
  pause.hidden = false;
  pause.addEventListener('click', () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    const label = pause.lastElementChild;
    if (label) label.textContent = paused ? 'Paused' : 'Live';
    paused ? close() : (open(), refresh());
  });
  fresh?.addEventListener('click', refresh);
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close(); else { open(); if (!paused) refresh(); }
  });
  addEventListener('pagehide', close);
  startCharts().finally(open);
}
