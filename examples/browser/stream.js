// @ts-check
// Reads a stream in a browser. The page's own backend gives it a short-lived token at ./token; the key of the
// backend never reaches the browser. Events are acknowledged after they are on the page.

/**
 * What the backend grants. `events` lists the names of the events that the page shows beside those without a name.
 * @typedef {{server: string, stream: string, subscriber: string, token: string, events?: string[]}} Grant
 */

const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const list = /** @type {HTMLElement} */ (document.getElementById("events"));
let lastEventId = "";
let shown = 0;

/** @returns {Promise<Grant>} */
async function grant() {
  const response = await fetch("token", { method: "POST" });
  if (!response.ok) throw new Error(`The backend gave no token: ${response.status}`);
  return response.json();
}

/** @param {Grant} to */
function addressOf(to) {
  const query = new URLSearchParams({ token: to.token, subscriber: to.subscriber, ack: "explicit" });
  if (lastEventId) query.set("lastEventId", lastEventId);
  return `${to.server}/streams/${encodeURIComponent(to.stream)}/events?${query}`;
}

/** @param {Grant} to */
async function acknowledge(to) {
  const { server, stream, subscriber, token } = to;
  const path = `${server}/streams/${encodeURIComponent(stream)}/subscribers/${encodeURIComponent(subscriber)}/ack`;
  await fetch(`${path}?${new URLSearchParams({ token })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ lastEventId }),
  });
}

/** @param {MessageEvent} event */
function show(event) {
  const item = document.createElement("li");
  item.textContent = event.data; // Never as HTML: events come from others.
  list.append(item);
  lastEventId = event.lastEventId;
  shown++;
}

async function connect() {
  const to = await grant();
  const source = new EventSource(addressOf(to));
  let acknowledging = 0;
  source.onopen = () => (status.textContent = "Connected");
  /** @param {MessageEvent} event */
  const received = (event) => {
    show(event);
    status.textContent = `${shown} events`;
    // Events that come together are acknowledged together.
    clearTimeout(acknowledging);
    acknowledging = setTimeout(() => acknowledge(to), 50);
  };
  // A browser hands an event with a name to the listeners of that name only.
  for (const name of ["message", ...(to.events ?? [])]) source.addEventListener(name, received);
  source.onerror = () => {
    // The token has expired, or the server is away: a new token resumes behind the last event shown.
    source.close();
    status.textContent = "Connecting again …";
    setTimeout(start, 1000);
  };
}

function start() {
  connect().catch((error) => {
    status.textContent = String(error);
    setTimeout(start, 5000);
  });
}

start();
