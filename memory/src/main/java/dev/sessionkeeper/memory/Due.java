package dev.sessionkeeper.memory;

import org.jspecify.annotations.Nullable;

/** An object that must be checked at a certain time; see {@link DueTimes}. */
class Due {
  // Both belong to DueTimes and are guarded by its lock.
  DueTimes.@Nullable Bucket dueBucket;
  int duePlace;
}
