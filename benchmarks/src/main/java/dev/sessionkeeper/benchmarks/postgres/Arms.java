package dev.sessionkeeper.benchmarks.postgres;

import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** The contestants that a worker can open. */
enum Arms {
  /** Bare SQL with a row per session. */
  BARE {
    @Override
    Arm open(DataSource source, Turn.Wish wish) throws Exception {
      return RowPerSessionArm.open(source, wish.worker() == 0);
    }
  },
  /** The product. */
  KEEPER {
    @Override
    Arm open(DataSource source, Turn.Wish wish) {
      return KeeperArm.open(source, wish.sessions());
    }
  },
  /** The product with a queue for each process, which uses its own queue only. */
  SPLIT {
    @Override
    Arm open(DataSource source, Turn.Wish wish) {
      return KeeperArm.open(source, "bench-" + wish.worker(), wish.sessions(), delivery -> false);
    }

    @Override
    int[] sessions(int count, Turn.Wish wish) {
      int own = wish.sessions() / wish.workers();
      return ThreadLocalRandom.current()
          .ints(count, 0, own)
          .map(k -> k * wish.workers() + wish.worker())
          .toArray();
    }
  },
  /** The product with handlers that retry each message once. */
  FAILING {
    @Override
    Arm open(DataSource source, Turn.Wish wish) {
      return KeeperArm.open(source, "bench", wish.sessions(), delivery -> delivery.attempt() == 1);
    }
  };

  abstract Arm open(DataSource source, Turn.Wish wish) throws Exception;

  /** Returns the sessions to which a worker sends next. */
  int[] sessions(int count, Turn.Wish wish) {
    return ThreadLocalRandom.current().ints(count, 0, wish.sessions()).toArray();
  }
}
