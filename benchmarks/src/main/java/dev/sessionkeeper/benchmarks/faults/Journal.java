package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The actions of one process, in an append-only file. A line is with the operating system when the
 * call returns, so killing the process loses nothing. Thread-safe.
 *
 * <p>It is a stream and not a channel, because an interrupt of a writer closes a channel, and
 * handlers are interrupted.
 */
final class Journal implements AutoCloseable {
  private static final String ENDING = ".journal";

  private final String process;
  private final OutputStream out;

  Journal(Path folder, String process) throws IOException {
    this.process = process;
    this.out = new FileOutputStream(folder.resolve(process + ENDING).toFile(), true);
  }

  /** Returns the process that wrote this file; blank if it is no journal. */
  static String processOf(Path file) {
    var name = file.getFileName().toString();
    return name.endsWith(ENDING) ? name.substring(0, name.length() - ENDING.length()) : "";
  }

  void about(Kind kind, String word) {
    write(kind, "", 0, 0, 0, word);
  }

  void sender(Kind kind, String session, long number) {
    write(kind, session, number, 0, 0, "");
  }

  void hold(Kind kind, String session, long epoch, long value) {
    write(kind, session, 0, epoch, value, "");
  }

  void operator(Kind kind, String session, String word) {
    write(kind, session, 0, 0, 0, word);
  }

  void message(Kind kind, String session, long number, long epoch, String word) {
    write(kind, session, number, epoch, 0, word);
  }

  synchronized void write(
      Kind kind, String session, long number, long epoch, long value, String word) {
    writeAt(System.nanoTime(), kind, session, number, epoch, value, word);
  }

  /** Records an accept with the time of its beginning, which is known only afterwards. */
  synchronized void accepted(long began, String session, long epoch, long until) {
    writeAt(began, Kind.ACCEPTING, session, 0, epoch, 0, "");
    writeAt(System.nanoTime(), Kind.TAKEN, session, 0, epoch, until, "");
  }

  private void writeAt(
      long nanos, Kind kind, String session, long number, long epoch, long value, String word) {
    var event = new Event(nanos, process, kind, session, number, epoch, value, word);
    try {
      out.write((event.line() + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("The journal of " + process + " cannot be written", e);
    }
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
