package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.util.Locale;
import java.util.Optional;

/** The technology that carries the queues. */
public record QueuesConfig(Provider provider, Sqs sqs, ServiceBus serviceBus) {
  public static final ConfigSection<QueuesConfig> SECTION =
      ConfigSection.of("queues", QueuesConfig::read).restart("provider", "sqs", "servicebus");

  /** The technologies, by their word in the file. */
  public enum Provider {
    STORE,
    SQS,
    SERVICEBUS;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * AWS SQS FIFO. Credentials come from the default chain of the AWS SDK.
   *
   * @param endpoint an endpoint other than AWS itself
   */
  public record Sqs(Optional<String> region, Optional<String> endpoint, String prefix) {
    static Sqs read(Fields in) {
      var region = in.optional("region", Decode.text(50));
      var endpoint = in.optional("endpoint", Decode.text(500));
      var prefix = in.optional("prefix", "", Decode.text(40));
      in.check();
      return new Sqs(region.get(), endpoint.get(), prefix.get());
    }
  }

  /**
   * Azure Service Bus.
   *
   * @param administrationEndpoint where queues are created, if other than Azure itself
   */
  public record ServiceBus(
      Optional<Secret> connectionString, Optional<String> administrationEndpoint) {
    static ServiceBus read(Fields in, ConfigContext context) {
      var connection = in.optional("connection_string", context.secret());
      var administration = in.optional("administration_endpoint", Decode.text(500));
      in.check();
      return new ServiceBus(connection.get(), administration.get());
    }
  }

  static QueuesConfig read(Fields in, ConfigContext context) {
    var provider =
        in.optional(
            "provider", Provider.STORE, Decode.oneOf(Decode.words(Provider.class, Provider::word)));
    var sqs =
        in.optional(
            "sqs", new Sqs(Optional.empty(), Optional.empty(), ""), Decode.object(Sqs::read));
    var bus =
        in.optional(
            "servicebus",
            new ServiceBus(Optional.empty(), Optional.empty()),
            Decode.object(fields -> ServiceBus.read(fields, context)));
    in.check();
    return new QueuesConfig(provider.get(), sqs.get(), bus.get());
  }
}
