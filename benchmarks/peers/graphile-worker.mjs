// graphile-worker with a named queue per key, 16 workers in one process. Jobs come 500 at a time and are completed in batches.
// A batch that finds all queues taken by the one before would wait for the next poll, two seconds by default: here 10 ms.
import pg from 'pg';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { main } from './load.mjs';

const WORKERS = 16;
const quiet = new Logger(() => () => {});

await main(async () => {
  const pgPool = new pg.Pool({ max: WORKERS + 4 });
  pgPool.on('error', (error) => console.error(error));
  pgPool.on('connect', (client) => client.on('error', (error) => console.error(error)));
  const utils = await makeWorkerUtils({ pgPool, logger: quiet });
  await utils.migrate();
  let runner;
  return {
    send: (bodies) =>
      utils.addJobs(bodies.map((body) => ({ identifier: 'handle', payload: body, queueName: `customer-${body.k}` }))),
    filled: () => pgPool.query('ANALYZE'),
    consume: async (handle) => {
      runner = await run({
        pgPool,
        taskList: { handle: (body) => handle(body) },
        noHandleSignals: true,
        logger: quiet,
        preset: {
          worker: {
            concurrentJobs: WORKERS,
            pollInterval: 10,
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
