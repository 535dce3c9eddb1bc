package dev.sessionkeeper.server.streams;

import java.util.function.Supplier;

/** The current settings of streams; a reload changes them. */
final class CurrentConfig implements Supplier<StreamsConfig> {
  private volatile StreamsConfig value;

  CurrentConfig(StreamsConfig value) {
    this.value = value;
  }

  @Override
  public StreamsConfig get() {
    return value;
  }

  void set(StreamsConfig next) {
    value = next;
  }
}
