package dev.sessionkeeper;

import java.util.regex.Pattern;

/**
 * Names a queue: 1 to 80 letters, digits, dots, hyphens, underscores or tildes, beginning with a
 * letter or digit. A tilde stands for the slash in the name of a Service Bus queue.
 */
public record QueueName(String value) implements Comparable<QueueName> {
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._~-]{0,79}");

  public QueueName {
    if (!ALLOWED.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "A queue name has 1 to 80 letters, digits, '.', '-', '_' or '~' and begins with a letter or digit, was "
              + Quoted.of(value));
    }
  }

  public static QueueName of(String value) {
    return new QueueName(value);
  }

  @Override
  public int compareTo(QueueName other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
