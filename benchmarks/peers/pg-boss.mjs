// pg-boss with the policy key_strict_fifo. Its own worker polls twice a second at most, so these loops fetch, handle and
// complete by themselves; FETCH is how many jobs at once, LOOPS how many loops.
import { PgBoss } from 'pg-boss';
import { main } from './load.mjs';

const QUEUE = 'bench';
const LOOPS = Number(process.env.LOOPS);
const FETCH = Number(process.env.FETCH);
const IDLE_MILLIS = 5;

await main(async () => {
  const { PGHOST: host, PGPORT: port, PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = process.env;
  const boss = new PgBoss({ host, port: Number(port), user, password, database, max: LOOPS + 4, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE, { policy: 'key_strict_fifo' });
  let stopped = false;
  let loops = [];
  const loop = async (handle) => {
    while (!stopped) {
      const jobs = await boss.fetch(QUEUE, { batchSize: FETCH });
      if (jobs.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, IDLE_MILLIS));
        continue;
      }
      jobs.forEach((job) => handle(job.data));
      await boss.complete(QUEUE, jobs.map((job) => job.id));
    }
  };
  return {
    send: (bodies) =>
      boss.insert(QUEUE, bodies.map((body) => ({ data: body, singletonKey: `customer-${body.k}` }))),
    filled: () => boss.getDb().executeSql('ANALYZE'),
    consume: async (handle) => {
      loops = Array.from({ length: LOOPS }, () => loop(handle));
    },
    close: async () => {
      stopped = true;
      await Promise.all(loops);
      await boss.stop({ graceful: false });
    },
  };
});
