package dev.sessionkeeper.memory;

import org.jspecify.annotations.Nullable;

/** Something that can be looked at when its time comes; see {@link DueTimes}. */
class Due {
  // Both belong to DueTimes and are guarded by its lock.
  DueTimes.@Nullable Bucket dueBucket;
  int duePlace;
}
