package dev.sessionkeeper.server.json;

import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Collects bytes in arrays of bounded size. */
final class Pieces extends OutputStream {
  private static final int FIRST = 1 << 10;
  private static final int MOST = 64 << 10;

  private final List<byte[]> full = new ArrayList<>();
  private byte[] current = new byte[FIRST];
  private int length;

  @Override
  public void write(int one) {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) {
    Objects.checkFromIndexSize(from, count, bytes.length);
    int at = from;
    for (int left = count; left > 0; ) {
      makeRoom();
      int some = Math.min(left, current.length - length);
      System.arraycopy(bytes, at, current, length, some);
      length += some;
      at += some;
      left -= some;
    }
  }

  /** Makes room for one byte at least: a small array grows, a large one is kept. */
  private void makeRoom() {
    if (length < current.length) {
      return;
    }
    if (current.length < MOST) {
      current = Arrays.copyOf(current, 4 * current.length);
    } else {
      full.add(current);
      current = new byte[MOST];
      length = 0;
    }
  }

  /** Returns all bytes in their order. */
  List<byte[]> all() {
    var all = new ArrayList<>(full);
    all.add(Arrays.copyOf(current, length));
    return all;
  }
}
