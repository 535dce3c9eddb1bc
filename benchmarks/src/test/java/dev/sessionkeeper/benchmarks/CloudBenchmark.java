package dev.sessionkeeper.benchmarks;

import dev.sessionkeeper.servicebus.testserver.QueueOptions;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import java.io.PrintStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * The cost of the cloud providers compared with the bare SDK, on the same test server: receive in
 * order and settle, one worker. On Service Bus a session's messages are contiguous; on SQS they
 * come in bursts of ten, or of one, so that a call brings ten sessions. It is a test class because
 * its servers are for tests.
 *
 * <p>{@code mvn -pl benchmarks -am test-compile}, then {@code mvn -pl benchmarks exec:java
 * -Dexec.classpathScope=test -Dexec.mainClass=dev.sessionkeeper.benchmarks.CloudBenchmark
 * -Dexec.args="servicebus 100 100 9"}: what (servicebus, sqs, sqs-interleaved, all), messages per
 * session, sessions, repetitions.
 */
public final class CloudBenchmark {
  private static final PrintStream OUT = System.out;

  private CloudBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    var cell = arguments.length > 0 ? arguments[0] : "all";
    int perSession = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 100;
    int sessions = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 100;
    int repetitions = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 7;
    var side = new SideBySide(3, repetitions);
    var load = new Arm.Load(sessions, sessions * perSession, false);
    switch (cell) {
      case "servicebus" -> serviceBus(side, load);
      case "sqs" -> sqs(side, load, 10);
      case "sqs-interleaved" -> sqs(side, load, 1);
      case "all" -> {
        serviceBus(side, load);
        sqs(side, load, 10);
        sqs(side, load, 1);
      }
      default ->
          throw new IllegalArgumentException(
              "The first argument must be servicebus, sqs, sqs-interleaved or all, was " + cell);
    }
    System.exit(0); // The SDKs leave threads running.
  }

  private static void serviceBus(SideBySide side, Arm.Load load) throws Exception {
    try (var server = ServiceBusTestServer.start()) {
      server.declare("bare", QueueOptions.withSessions().lockDuration(Duration.ofMinutes(5)));
      int perSession = load.messages() / load.sessions();
      report("Service Bus", side, load, ServiceBusArms.on(server, perSession));
    }
  }

  private static void sqs(SideBySide side, Arm.Load load, int burst) throws Exception {
    var server = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    int port = server.waitUntilStarted().localAddress().getPort();
    try (var client =
        SqsClient.builder()
            .endpointOverride(URI.create("http://127.0.0.1:" + port))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any")))
            .httpClient(UrlConnectionHttpClient.create())
            .build()) {
      report("SQS, bursts of " + burst, side, load, SqsArms.on(client, burst));
    } finally {
      server.stopAndWait();
    }
  }

  private static void report(String what, SideBySide side, Arm.Load load, List<Arm> arms)
      throws Exception {
    OUT.println(what + ", " + load);
    var runs = side.run(arms, load);
    var first = runs.getOrDefault(arms.get(0).name(), List.of());
    runs.forEach((name, all) -> OUT.println(SideBySide.line(name, all, first, load.messages())));
  }
}
