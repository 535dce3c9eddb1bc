package dev.sessionkeeper.benchmarks.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Runs the kept inputs of a target, and then a counted number of mutations of them, in this
 * process. The inputs depend on the seed alone, so that every build runs the same ones.
 */
final class MutateCorpus {
  private static final int MOST_CHANGES = 4;
  private static final List<byte[]> PIECES =
      List.of(
          new byte[] {0},
          new byte[] {(byte) 0xff, (byte) 0xfe},
          new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
          "\r\n".getBytes(UTF_8),
          "\r\n\r\n".getBytes(UTF_8),
          "\"".getBytes(UTF_8),
          "\\ud800".getBytes(UTF_8),
          "null".getBytes(UTF_8),
          "-1".getBytes(UTF_8),
          "9223372036854775808".getBytes(UTF_8),
          "1e400".getBytes(UTF_8),
          "{\"a\":[".getBytes(UTF_8),
          "..%2f".getBytes(UTF_8),
          "\ud83d\ude00".getBytes(UTF_8));

  private final List<byte[]> corpus;
  private final Random random;

  MutateCorpus(Path folder, long seed) throws IOException {
    this.corpus = read(folder);
    this.random = new Random(seed);
  }

  private static List<byte[]> read(Path folder) throws IOException {
    var inputs = new ArrayList<byte[]>();
    try (var files = Files.list(folder)) {
      for (var file : files.sorted().toList()) {
        inputs.add(Files.readAllBytes(file));
      }
    }
    if (inputs.isEmpty()) {
      throw new IOException("No input is kept in " + folder);
    }
    return inputs;
  }

  /**
   * Runs the inputs, and returns their number.
   *
   * @throws AssertionError with the input for which the target threw
   */
  int run(Target target, int mutations) {
    for (var input : corpus) {
      take(target, input);
    }
    for (int i = 0; i < mutations; i++) {
      take(target, next());
    }
    return corpus.size() + mutations;
  }

  private static void take(Target target, byte[] input) {
    try {
      target.take(input);
    } catch (Exception | StackOverflowError e) {
      throw new AssertionError(
          target + " does not take " + HexFormat.of().formatHex(input) + ": " + e, e);
    }
  }

  private byte[] next() {
    var input = corpus.get(random.nextInt(corpus.size()));
    for (int change = random.nextInt(MOST_CHANGES); change >= 0; change--) {
      input = changed(input);
    }
    return input;
  }

  private byte[] changed(byte[] input) {
    int at = random.nextInt(input.length + 1);
    int end = at + random.nextInt(input.length - at + 1);
    return switch (random.nextInt(6)) {
      case 0 -> flipped(input, at);
      case 1 -> joined(Arrays.copyOf(input, at), tail(input, end)); // without a part
      case 2 -> joined(Arrays.copyOf(input, end), tail(input, at)); // with a part twice
      case 3 ->
          joined(Arrays.copyOf(input, at), tail(corpus.get(random.nextInt(corpus.size())), 0));
      case 4 -> inserted(input, at, new byte[] {(byte) random.nextInt(256)});
      default -> inserted(input, at, PIECES.get(random.nextInt(PIECES.size())));
    };
  }

  private byte[] flipped(byte[] input, int at) {
    var copy = input.clone();
    if (at < copy.length) {
      copy[at] ^= (byte) (1 << random.nextInt(8));
    }
    return copy;
  }

  private static byte[] inserted(byte[] input, int at, byte[] piece) {
    return joined(joined(Arrays.copyOf(input, at), piece), tail(input, at));
  }

  private static byte[] tail(byte[] input, int from) {
    return Arrays.copyOfRange(input, Math.min(from, input.length), input.length);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    var both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
