package dev.sessionkeeper.server.gateway;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;

/**
 * Runs only the test server of a cloud, for a Sessionkeeper server in another process.
 *
 * <p>{@code mvn -pl server -am test-compile}, then {@code mvn -pl server exec:java
 * -Dexec.classpathScope=test -Dexec.mainClass=dev.sessionkeeper.server.gateway.ServeCloudQueues
 * -Dexec.args=sqs}. Prints the section for {@code keeper.yaml}, and ends with its input.
 */
public final class ServeCloudQueues {
  private static final PrintStream OUT = System.out;

  private ServeCloudQueues() {}

  public static void main(String[] arguments) throws IOException {
    var cloud = arguments.length == 1 ? arguments[0] : "";
    try (var queues = start(cloud)) {
      OUT.print(queues.yaml());
      OUT.println("# ready");
      while (System.in.read() >= 0) {
        // Reads until the starting process closes the input.
      }
    }
    System.exit(0); // ElasticMQ leaves threads running, so the process must exit.
  }

  private static CloudQueues start(String cloud) throws IOException {
    return switch (cloud) {
      case "sqs" -> CloudQueues.sqs(Duration.ofMinutes(1));
      case "servicebus" -> CloudQueues.serviceBus();
      default ->
          throw new IllegalArgumentException(
              "The argument must be sqs or servicebus, was '" + cloud + "'");
    };
  }
}
