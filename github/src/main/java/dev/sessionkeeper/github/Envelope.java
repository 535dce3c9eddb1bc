package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.Payload;
import java.io.ByteArrayOutputStream;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes the normalised event as CloudEvents 1.0. The payload is embedded as the bytes GitHub sent;
 * if it is left out, {@code dataref} says where it is.
 */
final class Envelope {
  private static final String CONTENT_TYPE = "application/cloudevents+json";
  private static final JsonFactory JSON = new JsonFactory();

  private Envelope() {}

  static Payload of(GitHubEvent event, Ordering ordering, String time, Optional<Payload> payload) {
    var out = new ByteArrayOutputStream(1024 + payload.map(Payload::size).orElse(0));
    out.writeBytes(head(event, ordering, time));
    if (payload.isPresent()) {
      out.writeBytes(",\"data\":".getBytes(UTF_8));
      out.writeBytes(payload.get().unsafeBytes());
    }
    out.write('}');
    return Payload.stored(out.toByteArray(), Payload.Form.JSON, CONTENT_TYPE);
  }

  /** Returns everything but {@code data} and the closing brace. */
  private static byte[] head(GitHubEvent event, Ordering ordering, String time) {
    var out = new ByteArrayOutputStream(1024);
    var entity = ordering.entityOf(event);
    try (var json = JSON.createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartObject();
      json.writeStringProperty("specversion", "1.0");
      json.writeStringProperty("id", event.id().toString());
      json.writeStringProperty(
          "source", "github/" + event.repository().map(RepositoryRef::fullName).orElse(""));
      json.writeStringProperty("type", "github." + event.name());
      json.writeStringProperty("subject", entity.type() + "/" + entity.id());
      json.writeStringProperty("time", time);
      json.writeStringProperty("datacontenttype", "application/json");
      json.writeStringProperty("dataref", "/events/" + event.id() + "/payload");
      json.writeStringProperty("eventtype", event.type());
      write(json, "action", event.action());
      json.writeStringProperty("deliveryid", event.deliveryId());
      write(json, "repository", event.repository().map(RepositoryRef::fullName));
      if (event.repository().isPresent() && event.repository().get().id().isPresent()) {
        json.writeNumberProperty("repositoryid", event.repository().get().id().getAsLong());
      }
      write(json, "organization", event.organization());
      if (event.installation().isPresent()) {
        json.writeNumberProperty("installationid", event.installation().getAsLong());
      }
      write(json, "sender", event.sender());
      json.writeStringProperty("entitytype", entity.type());
      json.writeStringProperty("entityid", entity.id());
      write(json, "sessionid", ordering.sessionOf(event).map(Object::toString));
      json.writeEndObject();
    }
    byte[] whole = out.toByteArray();
    return java.util.Arrays.copyOf(whole, whole.length - 1);
  }

  private static void write(JsonGenerator json, String name, Optional<String> value) {
    value.ifPresent(text -> json.writeStringProperty(name, text));
  }
}
