// graphile-worker with a named queue per key, 16 workers in one process. To drain, jobs come 500 at a time and are completed
// in batches. For delays the same, as its local queue asks at once when it is told of a job.
import pg from 'pg';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { main } from './load.mjs';

const WORKERS = 16;
const quiet = new Logger(() => () => {});

await main(async () => {
  const pgPool = new pg.Pool({ max: WORKERS + 4 });
  const utils = await makeWorkerUtils({ pgPool, logger: quiet });
  await utils.migrate();
  let runner;
  return {
    send: (bodies) =>
      utils.addJobs(bodies.map((body) => ({ identifier: 'handle', payload: body, queueName: `customer-${body.k}` }))),
    consume: async (handle) => {
      runner = await run({
        pgPool,
        taskList: { handle: (body) => handle(body) },
        noHandleSignals: true,
        logger: quiet,
        preset: {
          worker: {
            concurrentJobs: WORKERS,
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      });
    },
    close: async () => {
      await runner.stop();
    },
  };
});
