-- Several processes may read a queue, each its own part of the sessions. A session is in one of 64 buckets, by a hash of its
-- name (keeper.bucket_of), and a set of buckets is one number with 64 bits.

-- Which buckets a bundle has messages of, as far as its sender cared to find out: all of them say nothing.
ALTER TABLE keeper.bundle ADD COLUMN buckets bigint NOT NULL DEFAULT -1;

-- Which buckets are whose. It never changes while the row is there: who gets another part has another row, with another epoch.
ALTER TABLE keeper.reader ADD COLUMN owns bigint NOT NULL DEFAULT -1;
ALTER TABLE keeper.reader DROP CONSTRAINT reader_pkey;
ALTER TABLE keeper.reader DROP CONSTRAINT reader_queue_epoch_key;
ALTER TABLE keeper.reader ADD PRIMARY KEY (queue, epoch);
ALTER TABLE keeper.reading DROP CONSTRAINT reading_pkey;
ALTER TABLE keeper.reading ADD PRIMARY KEY (queue, epoch);

-- The reader whose note it is; zero: of the time when there was only one.
ALTER TABLE keeper.completion ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
ALTER TABLE keeper.completion DROP CONSTRAINT completion_pkey;
ALTER TABLE keeper.completion ADD PRIMARY KEY (queue, epoch, note);

-- An ask without a session: a process wants so many, whichever they are, of any reader but itself.
ALTER TABLE keeper.ask ADD COLUMN how_many int NOT NULL DEFAULT 0, ADD COLUMN node text;
