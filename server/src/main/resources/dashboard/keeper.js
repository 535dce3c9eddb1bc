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

// On a phone the sections and tabs scroll; the present one is in sight.
for (const link of document.querySelectorAll('nav a[aria-current="page"]')) link.scrollIntoView({ block: 'nearest', inline: 'center' });

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
  copy(input.value);
});

// Plain HTTP has no clipboard; there the browser copies what a hidden field selects.
/** @param {string} text */
function copy(text) {
  if (navigator.clipboard) { navigator.clipboard.writeText(text).then(() => say('Copied'), () => {}); return; }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
  say('Copied');
}

// Times: relative in the text, absolute on hover, in UTC or as the reader's clock shows them.
const zone = byId('zone');
const isLocal = () => document.cookie.includes('keeper-zone=local');
if (zone) {
  zone.hidden = false;
  zone.textContent = isLocal() ? 'Local' : 'UTC';
  zone.addEventListener('click', () => {
    document.cookie = `keeper-zone=${isLocal() ? 'utc' : 'local'}; path=/; max-age=31536000; samesite=strict`;
    zone.textContent = isLocal() ? 'Local' : 'UTC';
    charts.forEach((chart) => chart.redraw(false));
  });
}
document.addEventListener('mouseover', (event) => {
  const time = /** @type {HTMLTimeElement} */ (/** @type {HTMLElement} */ (event.target).closest?.('time[datetime]'));
  if (!time) return;
  const at = new Date(time.dateTime);
  time.title = isLocal() ? at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' }) : at.toISOString().replace('T', ' ').replace('Z', ' UTC');
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
  if (event.ctrlKey || event.metaKey || event.altKey || at.closest('input, textarea, select, dialog[open]')) return;
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
  } else if (event.key === 'x') {
    document.querySelector('tr.at')?.classList.toggle('picked');
  } else if (event.key === 'c' && document.querySelector('tr.picked')) {
    copy([...document.querySelectorAll('tr.picked > th')].map((name) => name.textContent?.trim()).join('\n'));
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

// The distances between the marks of ages: whole seconds, minutes and hours.
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800];
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((digits) => [1, 2, 5].map((first) => first * 10 ** digits));

/** @param {string} name */
const colour = (name) => getComputedStyle(html).getPropertyValue(name).trim();

/** Seconds as a person would say them. @param {number} seconds */
function span(seconds) {
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min` : `${Math.floor(seconds / 86400)} d`;
}

/** @param {number} seconds @param {boolean} isFine */
function clock(seconds, isFine) {
  const at = new Date(seconds * 1000);
  return (isLocal() ? at.toTimeString() : at.toISOString().slice(11)).slice(0, isFine ? 8 : 5);
}

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
    // Without a sample there is no time to draw: the axis shows the last two minutes.
    series[key] = at.length ? [at.slice(), ...names.map((name) => data[name])] : [[Date.now() / 1000 - 120, Date.now() / 1000], ...names.map(() => [null, null])];
    const colours = { in: '--accent', out: '--ok', depth: '--accent', age: '--warn' };
    const axis = { stroke: () => colour('--muted'), grid: { stroke: () => colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    plot.replaceChildren();
    // @ts-ignore
    charts.set(key, new uPlot({
      width: plot.clientWidth, height: 120, padding: [6, 26, 0, 0], legend: { show: false }, cursor: { y: false, points: { size: 5 } },
      scales: { x: { range: (/** @type {any} */ u, /** @type {number} */ min, /** @type {number} */ max) => [Math.min(min ?? Infinity, (max ?? Date.now() / 1000) - 120), max ?? Date.now() / 1000] }, y: { range: (/** @type {any} */ u, /** @type {number} */ min, /** @type {number} */ max) => [0, Math.max(1, (max ?? 1) * 1.1)] } },
      axes: [{ ...axis, space: 84, size: 22, values: (/** @type {any} */ u, /** @type {number[]} */ values) => values.map((value) => clock(value, u.scales.x.max - u.scales.x.min < 600)) }, { ...axis, size: 48, space: 24, ...(key !== 'rates' && { incrs: key === 'age' ? STEPS : WHOLE }), values: (/** @type {any} */ u, /** @type {number[]} */ values) => values.map((value) => key === 'age' ? span(value).replace(' 0 min', '') : value >= 1e6 ? value / 1e6 + ' M' : value >= 1e4 ? value / 1e3 + ' k' : String(value)) }],
      series: [{}, ...names.map((name) => ({ label: name, stroke: () => colour(colours[/** @type {'in'} */ (name)]), fill: () => colour(colours[/** @type {'in'} */ (name)]) + '1f', width: 1.5, points: { show: false } }))],
    }, series[key], plot));
  }
}
addEventListener('resize', () => charts.forEach((chart) => chart.setSize({ width: chart.root.parentElement.clientWidth, height: 120 })));

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
    if (now) now.textContent = key === 'rates' ? `${point.in ?? 0} in · ${point.out ?? 0} out` : key === 'age' ? span(point.age) : point.depth.toLocaleString('en');
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
let lookedAt = Date.now();
let sampledAt = Date.now();

function isBusy() {
  return !!document.querySelector('dialog[open]') || !!document.querySelector('#live .rows:hover') ||
    !!document.activeElement?.closest('#live input, #live textarea, #live select') || String(getSelection()) !== '';
}

function refresh() {
  const region = byId('live');
  if (!region) return;
  if (fresh) fresh.hidden = true;
  region.dispatchEvent(new CustomEvent('keeper-refresh'));
}

// Nothing moves under the pointer: rows that came meanwhile are counted and wait for a click.
async function countNew() {
  const region = byId('live');
  const answer = region && await fetch(region.getAttribute('hx-get') ?? '').catch(() => null);
  if (!answer?.ok || !fresh) return;
  const rows = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelectorAll('#live tr[id], #live .timeline > li');
  const news = rows.length && rows[0].id ? [...rows].filter((row) => !byId(row.id)).length : rows.length - document.querySelectorAll('#live .timeline > li').length;
  fresh.hidden = news <= 0;
  fresh.textContent = news + ' new';
}

/** @param {string} why */
function markStale(why) {
  byId('live')?.classList.add('is-stale');
  if (stale) { stale.hidden = false; stale.textContent = `${why}; shown is what was ${Math.round((Date.now() - goodAt) / 1000)} s ago`; }
}

// A refresh that brings nothing new is answered with 304, and nothing is touched.
let tag = '';
document.addEventListener('htmx:config:request', (event) => {
  if (tag) /** @type {any} */ (event).detail.ctx.request.headers['If-None-Match'] = tag;
});

// A refusal is not swapped in: what was read last stays.
document.addEventListener('htmx:before:response', (event) => {
  const response = /** @type {any} */ (event).detail?.ctx?.response;
  const status = response?.status ?? 0;
  if (status >= 400) { event.preventDefault(); markStale('The server answered ' + status); return; }
  if (status === 200) tag = response.headers.get('ETag') ?? '';
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
    sampledAt = Date.now();
    addPoint(JSON.parse(/** @type {MessageEvent} */ (event).data));
  });
  // Pages of queues are asked for when a number has changed; all pages now and then.
  source.addEventListener('changed', () => { if (region.dataset.changes) setTimeout(look, Math.max(0, 1000 - (Date.now() - lookedAt))); });
  source.addEventListener('open', () => { if (stale && !stale.hidden) look(); });
  source.addEventListener('error', () => {
    markStale('The connection is lost');
    // The browser tries again by itself, unless the server answered with a refusal.
    if (source?.readyState === EventSource.CLOSED) { close(); setTimeout(open, 3000); }
  });
}

// As often as the page asks for, and only while the server can be heard.
function look() {
  if (source?.readyState !== EventSource.OPEN || paused || document.hidden) return;
  lookedAt = Date.now();
  isBusy() ? countNew() : refresh();
}

// Without samples for a while something is wrong: pages that wait to be told look by themselves.
function lookWhenDue() {
  const isSilent = live?.dataset.changes && Date.now() - sampledAt > 5000;
  if (Date.now() - lookedAt >= (isSilent ? 2 : Number(live?.dataset.every)) * 1000 - 300) look();
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
  setInterval(lookWhenDue, 1000);
}
