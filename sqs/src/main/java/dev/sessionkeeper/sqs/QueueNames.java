package dev.sessionkeeper.sqs;

import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import java.util.regex.Pattern;

/**
 * The names of our queues in SQS: at most 80 letters, digits, hyphens and underscores, with the
 * suffix {@code .fifo} for ordered queues.
 *
 * <p>A name that fits is used unchanged. Any other is shortened and made unique by a digest; the
 * queue's tags contain the full name.
 */
final class QueueNames {
  private static final String FIFO = ".fifo";
  private static final String DEAD = "-dead";
  private static final int LONGEST = 80 - FIFO.length() - DEAD.length();
  private static final int DIGEST = 12;
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_-]*");

  private final String prefix;

  QueueNames(String prefix) {
    this.prefix = prefix;
  }

  String nameOf(QueueName queue, QueueMode mode) {
    return base(queue) + (mode == QueueMode.ORDERED ? FIFO : "");
  }

  String deadLettersOf(QueueName queue, QueueMode mode) {
    return base(queue) + DEAD + (mode == QueueMode.ORDERED ? FIFO : "");
  }

  private String base(QueueName queue) {
    var name = prefix + queue.value();
    if (name.length() <= LONGEST && PLAIN.matcher(name).matches() && !name.endsWith(DEAD)) {
      return name;
    }
    var readable = name.replace('.', '_').replace('~', '_');
    int kept = Math.min(readable.length(), LONGEST - DIGEST - 1);
    return readable.substring(0, kept) + "-" + Digest.of(name).substring(0, DIGEST);
  }

  static boolean isDeadLetters(String url) {
    return url.endsWith(DEAD) || url.endsWith(DEAD + FIFO);
  }
}
