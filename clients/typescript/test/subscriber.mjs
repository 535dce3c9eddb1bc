// A subscriber that writes down every event it has handled; frozen and killed by the test that started it.
import { appendFileSync } from "node:fs";
import { KeeperClient } from "../dist/index.js";

const { KEEPER_SERVERS, KEEPER_STREAM, KEEPER_HISTORY } = process.env;
const keeper = new KeeperClient({ servers: KEEPER_SERVERS.split(",") });
const subscription = keeper.subscribe(
  KEEPER_STREAM,
  "frozen",
  (event) => appendFileSync(KEEPER_HISTORY, `${event.number}\n`),
  { from: "start", ackEvery: 10 },
);
await subscription.ended;
