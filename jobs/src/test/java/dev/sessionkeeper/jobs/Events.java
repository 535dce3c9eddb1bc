package dev.sessionkeeper.jobs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Records all events. */
final class Events implements Consumer<JobEvent> {
  private final List<JobEvent> all = new CopyOnWriteArrayList<>();

  @Override
  public void accept(JobEvent event) {
    all.add(event);
  }

  <T extends JobEvent> List<T> of(Class<T> type) {
    return all.stream().filter(type::isInstance).map(type::cast).toList();
  }
}
