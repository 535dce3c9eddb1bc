// Makes messages and checks what becomes of them; fills and drains a peer, or paces it. The same rules as in Java:
// for each producer and key messages must come one after the other, none missing, none twice.
//
// node <peer>.mjs drain <messages> <keys> <cap seconds>
// node <peer>.mjs delays <messages per second> <keys> <seconds>
// Connections come from PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE. Answers are lines on standard output.

const BODY_BYTES = 256;
const FILLERS = 4;
const BATCH = 1000;
const SENDERS = 16;

class Load {
  constructor(keys, producers) {
    this.keys = keys;
    this.producers = producers;
    this.sentOf = new Int32Array(keys * producers);
    this.handledOf = new Int32Array(keys * producers);
    this.sent = 0;
    this.handled = 0;
    this.violations = 0;
    this.first = 0;
    this.delays = [];
  }

  next(producer, key) {
    const body = { p: producer, k: key, n: ++this.sentOf[key * this.producers + producer], t: performance.now(), x: '' };
    body.x = 'x'.repeat(Math.max(0, BODY_BYTES - JSON.stringify(body).length));
    return body;
  }

  handle(body) {
    if (this.handled++ === 0) this.first = performance.now();
    const at = body.k * this.producers + body.p;
    if (this.handledOf[at] !== body.n - 1) this.violations++;
    this.handledOf[at] = body.n;
    this.delays.push(performance.now() - body.t);
  }
}

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

async function fill(peer, load, messages, cap) {
  const end = performance.now() + cap * 1000;
  await Promise.all(
    Array.from({ length: FILLERS }, async (_, producer) => {
      const share = messages / FILLERS;
      for (let done = 0; done < share && performance.now() < end; done += BATCH) {
        const size = Math.min(BATCH, share - done);
        await peer.send(Array.from({ length: size }, (_, i) => load.next(producer, (done + i) % load.keys)));
        load.sent += size;
      }
    }),
  );
}

async function drain(peer, messages, keys, cap) {
  const load = new Load(keys, FILLERS);
  let began = performance.now();
  await fill(peer, load, messages, cap);
  const filling = (performance.now() - began) / 1000;
  await peer.filled();
  console.log('filled');
  const cpu = process.cpuUsage();
  began = performance.now();
  await peer.consume((body) => load.handle(body));
  while (load.handled === 0 && performance.now() - began < cap * 1000) await pause(1);
  while (load.handled < load.sent && performance.now() - load.first < cap * 1000) await pause(2);
  const handled = load.handled;
  const draining = (performance.now() - load.first) / 1000;
  const used = process.cpuUsage(cpu);
  const numbers = [load.sent, filling, handled, (load.first - began) / 1000, draining, (used.user + used.system) / 1e6, load.violations];
  console.log(`drained ${numbers.join(' ')}`);
}

async function delays(peer, perSecond, keys, seconds) {
  const load = new Load(keys, SENDERS);
  await peer.consume((body) => load.handle(body));
  const every = (1000 * SENDERS) / perSecond;
  const began = performance.now();
  const end = began + seconds * 1000;
  const senders = Array.from({ length: SENDERS }, async (_, producer) => {
    let next = performance.now() + Math.random() * every;
    while (next < end) {
      await pause(Math.max(0, next - performance.now()));
      if (performance.now() > end) return;
      await peer.send([load.next(producer, Math.floor(Math.random() * keys))]);
      next += every;
    }
  });
  await pause((seconds * 1000) / 2);
  load.delays = [];
  const before = load.handled;
  const from = performance.now();
  await pause(end - performance.now());
  const reached = (load.handled - before) / ((performance.now() - from) / 1000);
  await Promise.all(senders);
  await pause(500);
  const sorted = load.delays.sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
  console.log(`delays ${reached} ${at(0.5)} ${at(0.99)} ${load.violations}`);
}

/** Runs what the command line asks of a peer: {send(bodies), filled(), consume(handle), close()}. */
export async function main(open) {
  const [mode, amount, keys, seconds] = process.argv.slice(2);
  const peer = await open(mode);
  await (mode === 'drain' ? drain : delays)(peer, Number(amount), Number(keys), Number(seconds));
  await Promise.race([peer.close(), pause(5000)]);
  process.exit(0);
}
