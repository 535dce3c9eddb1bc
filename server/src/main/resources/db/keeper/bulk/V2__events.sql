-- A replay of GitHub events sends to the queues of several bots. Those of other runs have one queue, in the column queue.
ALTER TABLE keeper.bulk ADD COLUMN queues text[] NOT NULL DEFAULT '{}';
