package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Keeps streams in memory. Without a database there are no jobs, so each append deletes expired
 * events of all streams.
 */
final class MemoryStreamLog implements StreamLog {
  private final Map<String, Stream> streams = new HashMap<>();
  private final Supplier<Duration> retention;
  private final TimeSource time;

  MemoryStreamLog(Supplier<Duration> retention, TimeSource time) {
    this.retention = retention;
    this.time = time;
  }

  private record Kept(StreamEvent event, Optional<String> key) {
    Instant at() {
      return event.at();
    }
  }

  private static final class Stream {
    final Deque<Kept> events = new ArrayDeque<>();
    final Map<String, Long> keys = new HashMap<>();
    long last;
  }

  @Override
  public synchronized List<NewEvent.Appended> append(String stream, List<NewEvent> events) {
    forgetOlderThan(retention.get(), Integer.MAX_VALUE);
    var to = streams.computeIfAbsent(stream, name -> new Stream());
    return events.stream().map(event -> append(to, event)).toList();
  }

  private NewEvent.Appended append(Stream to, NewEvent event) {
    var known = event.key().map(to.keys::get);
    if (known.isPresent()) {
      return new NewEvent.Appended(known.get(), true);
    }
    to.last++;
    event.key().ifPresent(key -> to.keys.put(key, to.last));
    to.events.add(
        new Kept(
            new StreamEvent(
                to.last, event.externalId(), event.event(), event.data(), time.instant()),
            event.key()));
    return new NewEvent.Appended(to.last, false);
  }

  @Override
  public synchronized OptionalLong find(String stream, String externalId) {
    var in = streams.get(stream);
    var id = in == null ? null : in.keys.get(NewEvent.keyOf(externalId));
    return id == null ? OptionalLong.empty() : OptionalLong.of(id);
  }

  @Override
  public synchronized List<Named> list(String prefix, String after, int limit) {
    return streams.keySet().stream()
        .filter(name -> name.startsWith(prefix) && name.compareTo(after) > 0)
        .sorted()
        .limit(limit)
        .map(name -> new Named(name, bounds(name)))
        .toList();
  }

  @Override
  public synchronized List<StreamEvent> read(String stream, long after, int limit, long maxBytes) {
    var from = streams.get(stream);
    if (from == null) {
      return List.of();
    }
    var page = new ArrayList<StreamEvent>();
    long bytes = 0;
    for (var kept : from.events) {
      var event = kept.event();
      if (event.id() > after) {
        bytes += event.data().length();
        if (page.size() == limit || (bytes > maxBytes && !page.isEmpty())) {
          break;
        }
        page.add(event);
      }
    }
    return page;
  }

  @Override
  public synchronized Bounds bounds(String stream) {
    var of = streams.get(stream);
    return of == null ? Bounds.EMPTY : new Bounds(of.last - of.events.size() + 1, of.last);
  }

  @Override
  public synchronized Map<String, Long> lastIds(Collection<String> names) {
    var ids = new HashMap<String, Long>();
    for (var name : names) {
      Optional.ofNullable(streams.get(name)).ifPresent(stream -> ids.put(name, stream.last));
    }
    return ids;
  }

  @Override
  public synchronized int forgetOlderThan(Duration age, int most) {
    var limit = time.instant().minus(age);
    int gone = 0;
    for (var stream : streams.values()) {
      while (gone < most
          && !stream.events.isEmpty()
          && stream.events.getFirst().at().isBefore(limit)) {
        stream.events.removeFirst().key().ifPresent(stream.keys::remove);
        gone++;
      }
    }
    return gone;
  }
}
