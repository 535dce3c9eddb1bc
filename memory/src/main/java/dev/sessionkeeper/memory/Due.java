package dev.sessionkeeper.memory;

import org.jspecify.annotations.Nullable;

/** Something that can be looked at when its time comes; see {@link DueTimes}. */
class Due {
  // All three belong to DueTimes and are guarded by its lock.
  DueTimes.@Nullable Bucket dueBucket;
  @Nullable Due dueBefore;
  @Nullable Due dueAfter;
}
