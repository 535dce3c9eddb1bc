package dev.sessionkeeper.benchmarks.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.Arrays;

/** The answer of a peer in another process: a word, and numbers. */
final class Answer {
  private Answer() {}

  /** Waits for the numbers after this word, and ignores other lines. */
  static double[] await(String word, String name, BufferedReader lines) throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      var parts = line.split(" ", -1);
      if (parts[0].equals(word)) {
        return Arrays.stream(parts).skip(1).mapToDouble(Double::parseDouble).toArray();
      }
    }
    throw new IllegalStateException(name + " ended before it said " + word);
  }

  /** Returns the result of a backlog. */
  static Peer.Drained drained(double[] said, double moreCpu) {
    return new Peer.Drained(
        (long) said[0],
        said[1],
        (long) said[2],
        said[3],
        said[4],
        said[5] + moreCpu,
        (long) said[6]);
  }

  static Peer.Delays delays(double[] said) {
    return new Peer.Delays(said[0], said[1], said[2], (long) said[3]);
  }
}
