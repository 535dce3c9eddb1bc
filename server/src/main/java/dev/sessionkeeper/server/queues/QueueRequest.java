package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.Field;
import dev.sessionkeeper.server.json.Fields;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a queue to create or change. An absent setting keeps its value, or gets its
 * default if the queue is new.
 *
 * @param given the settings that the body names, each as {@link QueueSetting#parse} reads it
 */
record QueueRequest(Optional<QueueMode> mode, @JsonUnwrapped Map<QueueSetting<?>, String> given) {

  static QueueRequest read(Fields in) {
    var mode = in.optional("mode", Decode.oneOf(QueueMode.class));
    var fields = new LinkedHashMap<QueueSetting<?>, Field<Optional<String>>>();
    for (var setting : QueueSetting.all()) {
      fields.put(setting, in.optional(setting.name(), decoder(setting.values())));
    }
    in.check();
    var given = new LinkedHashMap<QueueSetting<?>, String>();
    fields.forEach((setting, field) -> field.get().ifPresent(text -> given.put(setting, text)));
    return new QueueRequest(mode.get(), given);
  }

  private static Decoder<String> decoder(QueueSetting.Values<?> values) {
    return switch (values) {
      case QueueSetting.WholeNumber number ->
          Decode.integer(number.least(), number.most()).map(String::valueOf);
      case QueueSetting.TimeSpan span ->
          Decode.duration(span.least(), span.most()).map(String::valueOf);
      case QueueSetting.Choice<?> choice -> Decode.oneOf(choice.type()).map(Enum::name);
    };
  }

  /**
   * Returns the settings to apply.
   *
   * @param existing the queue's current settings, if it exists
   */
  QueueSettings settings(Optional<QueueSettings> existing) {
    var wanted = mode.or(() -> existing.map(QueueSettings::mode)).orElseThrow(this::modeIsMissing);
    var settings =
        existing
            .filter(known -> known.mode() == wanted)
            .orElseGet(() -> QueueSettings.defaults(wanted));
    for (var change : given.entrySet()) {
      settings = change.getKey().parse(settings, change.getValue());
    }
    return settings;
  }

  private RuntimeException modeIsMissing() {
    return Problem.invalid("mode", "is required for a new queue: ORDERED or UNORDERED")
        .toException();
  }
}
