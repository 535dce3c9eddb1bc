// Against a live server: KEEPER_SERVERS names its addresses.
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { test } from "node:test";
import { DeadLetter, InvalidWebhookError, KeeperClient, parseExact, ProblemError, verifyWebhook } from "../dist/index.js";

const keeper = new KeeperClient({ servers: process.env.KEEPER_SERVERS.split(",") });
const until = async (question, ms = 30_000) => {
  for (const end = Date.now() + ms; !(await question()); await new Promise((r) => setTimeout(r, 20)))
    assert.ok(Date.now() < end, `in time: ${question}`);
};
const newQueue = async (settings = {}) => {
  const queue = `ts-${randomUUID()}`;
  await keeper.declareQueue(queue, { mode: "ORDERED", ...settings });
  return queue;
};

test("messages of a session are handled in order, through failures, and set aside on request", async () => {
  const queue = await newQueue();
  const bodies = Array.from({ length: 25 }, (_, n) => n);
  for (const session of ["a", "b"])
    await keeper.send(queue, bodies.map((body) => ({ sessionId: session, body })));
  const seen = { a: [], b: [] };
  let failures = 0;
  const worker = keeper.work(
    queue,
    (message, session) => {
      if (message.body === 7 && message.attempt < 3 && ++failures) throw new Error("on purpose");
      if (message.body === 13) throw new DeadLetter("unlucky");
      seen[session.id].push(message.body);
    },
    { sessions: 2, messages: 4, retryDelayMs: () => 10 },
  );
  await until(() => seen.a.length + seen.b.length === 48);
  await worker.stop();
  const expected = bodies.filter((n) => n !== 13);
  assert.deepEqual(seen, { a: expected, b: expected });
  assert.equal(failures, 4);
  const { depth, dead } = await keeper.queue(queue);
  assert.deepEqual({ depth, dead }, { depth: 0, dead: 2 });
});

test("a slow handler keeps its lease, and the session remembers its state", async () => {
  const queue = await newQueue({ lockDuration: "PT4S" });
  await keeper.send(queue, [1, 2].map((body) => ({ sessionId: "slow", body })));
  const seen = [];
  const worker = keeper.work(
    queue,
    async (message, session) => {
      await new Promise((r) => setTimeout(r, 6_000));
      assert.equal(session.signal.aborted, false);
      seen.push([message.body, message.attempt, session.state && new TextDecoder().decode(session.state)]);
      session.state = new TextEncoder().encode(`after ${message.body}`);
    },
    { messages: 1, state: true },
  );
  await until(() => seen.length === 2);
  await worker.stop();
  assert.deepEqual(seen, [[1, 1, undefined], [2, 1, "after 1"]]);
});

test("stopping finishes what is in hand and gives the rest back", async () => {
  const queue = await newQueue();
  await keeper.send(queue, Array.from({ length: 30 }, (_, body) => ({ sessionId: "s", body })));
  let handled = 0;
  const worker = keeper.work(queue, async () => {
    await new Promise((r) => setTimeout(r, 30));
    handled++;
  });
  await until(() => handled >= 3);
  await worker.stop();
  const left = (await keeper.queue(queue)).depth;
  assert.equal(left, 30 - handled);
  const rest = [];
  const next = keeper.work(queue, (message) => rest.push(message.body));
  await until(() => rest.length === left, 5_000); // No lease has to run out first.
  await next.stop();
  assert.equal(rest[0], handled);
});

test("an error of onError costs neither the worker nor the order", async () => {
  const queue = await newQueue();
  await keeper.send(queue, Array.from({ length: 8 }, (_, body) => ({ sessionId: "s", body })));
  const seen = [];
  const worker = keeper.work(
    queue,
    (message) => {
      if (message.body === 2 && message.attempt === 1) throw new Error("on purpose");
      seen.push(message.body);
    },
    {
      messages: 4,
      retryDelayMs: () => 10,
      onError: () => {
        throw new TypeError("onError is broken");
      },
    },
  );
  await until(() => seen.length === 8);
  await worker.stop();
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("a worker that the server refuses says so, and ended rejects", async (t) => {
  const told = t.mock.method(console, "error", () => undefined);
  const worker = keeper.work("nobody-declared-it", () => undefined);
  await assert.rejects(worker.ended, (e) => e instanceof ProblemError && e.type === "unknown-queue");
  assert.match(String(told.mock.calls[0]?.arguments[0]), /nobody-declared-it/);
});

test("an answer that breaks off is asked for again, with the same request id", async () => {
  const queue = await newQueue();
  await keeper.send(queue, Array.from({ length: 6 }, (_, body) => ({ sessionId: "s", body })));
  let broken = 0;
  const fragile = new KeeperClient({
    servers: process.env.KEEPER_SERVERS.split(","),
    fetch: async (url, request) => {
      const response = await fetch(url, request);
      if (!url.endsWith("/work") || ++broken % 2 === 0) return response;
      const whole = new Uint8Array(await response.arrayBuffer());
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(whole.subarray(0, whole.length / 2));
          controller.error(new TypeError("terminated"));
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    },
  });
  const seen = [];
  const worker = fragile.work(queue, (message) => void seen.push(message.body), { messages: 4 });
  await until(() => seen.length === 6);
  await worker.stop();
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5]);
  assert.ok(broken >= 4, `${broken} answers`);
});

test("a repeated send stores nothing twice", async () => {
  const queue = await newQueue();
  const message = { messageId: "m-1", sessionId: "s", body: 1 };
  assert.equal((await keeper.send(queue, message))[0].duplicate, false);
  assert.equal((await keeper.send(queue, message))[0].duplicate, true);
});

test("a subscriber acknowledges what it has handled, and a failed event comes again", async () => {
  const stream = `ts-${randomUUID()}`;
  await keeper.publish(stream, [{ data: 1 }, { eventId: "evt_2", data: 2 }, { data: 3 }]);
  const seen = [];
  let failed = false;
  const handler = (event) => {
    if (event.data === 2 && !failed) {
      failed = true;
      throw new Error("on purpose");
    }
    seen.push([event.id, event.data]);
  };
  const first = keeper.subscribe(stream, "ann", handler, { from: "start" });
  await until(() => seen.length === 3);
  await first.stop();
  assert.deepEqual(seen, [["1", 1], ["evt_2", 2], ["3", 3]]);
  await keeper.publish(stream, [{ data: 4 }]);
  const second = keeper.subscribe(stream, "ann", handler);
  await until(() => seen.length === 4);
  await second.stop();
  assert.deepEqual(seen[3], ["4", 4]);
});

test("bodies arrive as they were sent, and a failure of a handler is told", async () => {
  const queue = await newQueue();
  const body = { price: 1.5, text: "1.50", list: [null, true], deep: { n: -0.25 } };
  await keeper.send(queue, { sessionId: "s", body });
  const seen = [];
  const told = [];
  const worker = keeper.work(
    queue,
    (message) => {
      if (message.attempt === 1) throw new Error("on purpose");
      seen.push(message.body);
    },
    { retryDelayMs: () => 10, onError: (error, message, session) => told.push([error.message, message.attempt, session.id]) },
  );
  await until(() => seen.length === 1);
  await worker.stop();
  assert.deepEqual(seen, [body]);
  assert.deepEqual(told, [["on purpose", 1, "s"]]);
});

test("refusals are typed", async () => {
  await assert.rejects(keeper.queue("none-of-that-name"), (e) => e instanceof ProblemError && e.type === "unknown-queue");
  await assert.rejects(keeper.declareQueue("bad", { mode: "SIDEWAYS" }), (e) => e.errors[0].field === "mode");
});

test("the registry answers as its types say, and decimals are exact", async () => {
  const [user, tenant, capacity] = [randomUUID(), randomUUID(), randomUUID()];
  const request = { userObjectId: user, tenantObjectId: tenant, capacityId: capacity, sessionKind: 1 };
  const created = await keeper.registry.put(request);
  assert.equal(created.status, "created");
  assert.equal((await keeper.registry.put(request)).status, "existing");
  assert.equal((await keeper.registry.end(created.sessionId)).isActive, false);
  assert.deepEqual((await keeper.usage.list({ tenantObjectId: tenant })).usages, []);
  const text = '{"usage":1.10,"note":"1.10 \\" 3","n":12,"big":12345678901234567890}';
  assert.deepEqual(parseExact(text, ["usage"]), { usage: "1.10", note: '1.10 " 3', n: 12, big: "12345678901234567890" });
});

test("webhooks are believed by their signature only", async () => {
  const secret = `whsec_${Buffer.from("a secret of some length").toString("base64")}`;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const mac = createHmac("sha256", "a secret of some length").update(`m.${timestamp}.{}`).digest("base64");
  const headers = { "Webhook-Id": "m", "webhook-timestamp": timestamp, "webhook-signature": `v1,AAAA v1,${mac}` };
  await verifyWebhook(headers, "{}", secret);
  await assert.rejects(verifyWebhook(headers, "{ }", secret), InvalidWebhookError);
  await assert.rejects(verifyWebhook({ ...headers, "webhook-timestamp": "1" }, "{}", secret), InvalidWebhookError);
});
