package dev.sessionkeeper.embedded;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The parameters with which the database starts. */
record ServerSettings(Map<String, String> values) {

  static ServerSettings durable() {
    var values = new LinkedHashMap<String, String>();
    values.put("fsync", "on");
    values.put("synchronous_commit", "on");
    values.put("max_connections", "200");
    values.put("shared_buffers", "256MB");
    values.put("max_wal_size", "2GB");
    values.put("autovacuum_naptime", "15s");
    // Compiling many short statements costs more than running them.
    values.put("jit", "off");
    // A client that vanished must not keep its locks for hours.
    values.put("tcp_keepalives_idle", "5");
    values.put("tcp_keepalives_interval", "2");
    values.put("tcp_keepalives_count", "3");
    values.put("password_encryption", "scram-sha-256");
    values.put("log_destination", "stderr");
    values.put("log_min_messages", "warning");
    return new ServerSettings(values);
  }

  /**
   * Returns settings that may lose acknowledged data when the machine or the database dies. For
   * tests that kill nothing.
   */
  static ServerSettings withoutSync() {
    var values = new LinkedHashMap<>(durable().values());
    values.put("fsync", "off");
    values.put("synchronous_commit", "off");
    values.put("full_page_writes", "off");
    return new ServerSettings(values);
  }

  /** Returns whether the database waits until its writes are on the disk. */
  boolean isSynced() {
    return "on".equals(values.get("fsync"));
  }

  ServerSettings with(Map<String, String> more) {
    var all = new LinkedHashMap<>(values);
    all.putAll(more);
    return new ServerSettings(all);
  }

  List<String> asArguments() {
    return values.entrySet().stream()
        .flatMap(setting -> List.of("-c", setting.getKey() + "=" + setting.getValue()).stream())
        .toList();
  }
}
