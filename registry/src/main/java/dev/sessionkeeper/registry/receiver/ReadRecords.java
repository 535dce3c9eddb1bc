package dev.sessionkeeper.registry.receiver;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Parses the records of a batch. Numbers stay decimal. */
final class ReadRecords {
  private static final JsonFactory JSON = new JsonFactory();

  private ReadRecords() {}

  static List<ReceivedRecord> of(byte[] body) {
    var records = new ArrayList<ReceivedRecord>();
    try (var parser = JSON.createParser(ObjectReadContext.empty(), body)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.START_OBJECT) {
        Map<String, String> fields = new HashMap<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
          var name = parser.currentName();
          parser.nextToken();
          // Keeps the number's text as sent; a double would lose digits.
          fields.put(name, parser.getString());
        }
        records.add(record(fields));
      }
    }
    return records;
  }

  private static ReceivedRecord record(Map<String, String> fields) {
    return new ReceivedRecord(
        field(fields, "recordId"),
        UUID.fromString(field(fields, "sessionId")),
        UUID.fromString(field(fields, "tenantObjectId")),
        new BigDecimal(field(fields, "usage")),
        Instant.parse(field(fields, "from")),
        Instant.parse(field(fields, "to")),
        Integer.parseInt(field(fields, "sessionKind")),
        fields.getOrDefault("type", "usage"),
        Optional.ofNullable(fields.get("corrects")));
  }

  private static String field(Map<String, String> fields, String name) {
    var value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("A record has no " + name);
    }
    return value;
  }
}
