package dev.sessionkeeper.sqs;

import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * The SQS of the tests: ElasticMQ in this process, or that of the environment's {@value #REGION},
 * with the default credentials and, if set, {@value #ENDPOINT}.
 */
final class TestSqs implements AutoCloseable {
  static final String REGION = "KEEPER_IT_SQS_REGION";
  static final String ENDPOINT = "KEEPER_IT_SQS_ENDPOINT";

  private final Optional<SQSRestServer> server;
  private final SqsClient client;
  private final int port;

  private TestSqs(Optional<SQSRestServer> server, SqsClient client, int port) {
    this.server = server;
    this.client = client;
    this.port = port;
  }

  static TestSqs start() {
    return start(new RefuseExpiredReceipts());
  }

  static TestSqs start(ExecutionInterceptor... interceptors) {
    return start(System.getenv(), interceptors);
  }

  static TestSqs start(Map<String, String> environment, ExecutionInterceptor... interceptors) {
    if (environment.containsKey(REGION)) {
      return new TestSqs(Optional.empty(), cloud(environment), 0);
    }
    var server = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    int port = server.waitUntilStarted().localAddress().getPort();
    var client = clientTo(URI.create("http://127.0.0.1:" + port), interceptors);
    return new TestSqs(Optional.of(server), client, port);
  }

  /** Returns a client of our own server, or of a proxy in front of it. */
  SqsClient clientTo(URI endpoint) {
    return clientTo(endpoint, new RefuseExpiredReceipts());
  }

  private static SqsClient clientTo(URI endpoint, ExecutionInterceptor... interceptors) {
    return SqsClient.builder()
        .endpointOverride(endpoint)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any")))
        .httpClient(UrlConnectionHttpClient.create())
        .overrideConfiguration(
            override -> {
              for (var interceptor : interceptors) {
                override.addExecutionInterceptor(interceptor);
              }
            })
        .build();
  }

  /** Returns the port of our own server. */
  int port() {
    return port;
  }

  private static SqsClient cloud(Map<String, String> environment) {
    var builder =
        SqsClient.builder()
            .region(Region.of(environment.getOrDefault(REGION, "")))
            .httpClient(UrlConnectionHttpClient.create());
    Optional.ofNullable(environment.get(ENDPOINT))
        .map(URI::create)
        .ifPresent(builder::endpointOverride);
    return builder.build();
  }

  /** Returns whether the environment names the server. */
  boolean isElsewhere() {
    return server.isEmpty();
  }

  SqsClient client() {
    return client;
  }

  SqsQueueProvider provider(TimeSource time, SessionStateStore states) {
    return SqsQueueProvider.builder(client).time(time).states(states).build();
  }

  @Override
  public void close() {
    client.close();
    server.ifPresent(SQSRestServer::stopAndWait);
  }
}
