// A worker that writes down what its handlers see; killed at any moment by the run that started it.
import { appendFileSync } from "node:fs";
import { KeeperClient, RetryLater } from "../dist/index.js";

const { KEEPER_SERVERS, KEEPER_QUEUE, KEEPER_HISTORY, KEEPER_WORKER } = process.env;
const write = (kind, message, session, more = {}) =>
  appendFileSync(
    KEEPER_HISTORY,
    JSON.stringify({
      kind, worker: KEEPER_WORKER, session: session.id, epoch: session.epoch,
      id: message.messageId, sequence: message.sequence, attempt: message.attempt, ...more,
    }) + "\n",
  );

const keeper = new KeeperClient({ servers: KEEPER_SERVERS.split(",") });
const worker = keeper.work(
  KEEPER_QUEUE,
  async (message, session) => {
    write("started", message, session);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
    const completed = Math.random() > 0.03;
    write("ended", message, session, { completed });
    if (session.signal.aborted) write("lost", message, session);
    if (!completed) throw new RetryLater(20, "on purpose");
  },
  { owner: KEEPER_WORKER, waitMs: 2_000 },
);
await worker.ended;
