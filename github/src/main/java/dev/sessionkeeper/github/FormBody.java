package dev.sessionkeeper.github;

import java.io.ByteArrayOutputStream;
import java.util.Optional;

/** Extracts the field {@code payload} from a form-encoded body, strictly. */
final class FormBody {
  private static final byte[] NAME = {'p', 'a', 'y', 'l', 'o', 'a', 'd'};

  private FormBody() {}

  /**
   * Returns the decoded bytes; empty if there is no such field, more than one, or an invalid
   * escape.
   */
  static Optional<byte[]> payload(byte[] form) {
    Optional<byte[]> found = Optional.empty();
    int start = 0;
    while (start <= form.length) {
      int end = indexOf(form, '&', start, form.length);
      int equals = indexOf(form, '=', start, end);
      if (equals < end && isPayload(form, start, equals)) {
        if (found.isPresent()) {
          return Optional.empty();
        }
        found = decode(form, equals + 1, end);
        if (found.isEmpty()) {
          return Optional.empty();
        }
      }
      start = end + 1;
    }
    return found;
  }

  private static boolean isPayload(byte[] form, int start, int end) {
    return decode(form, start, end).filter(name -> java.util.Arrays.equals(name, NAME)).isPresent();
  }

  private static Optional<byte[]> decode(byte[] form, int start, int end) {
    var decoded = new ByteArrayOutputStream(end - start);
    for (int i = start; i < end; i++) {
      if (form[i] == '+') {
        decoded.write(' ');
      } else if (form[i] != '%') {
        decoded.write(form[i]);
      } else {
        int high = i + 2 < end ? Character.digit(form[i + 1], 16) : -1;
        int low = i + 2 < end ? Character.digit(form[i + 2], 16) : -1;
        if (high < 0 || low < 0) {
          return Optional.empty();
        }
        decoded.write(high << 4 | low);
        i += 2;
      }
    }
    return Optional.of(decoded.toByteArray());
  }

  private static int indexOf(byte[] bytes, char wanted, int start, int end) {
    int i = start;
    while (i < end && bytes[i] != wanted) {
      i++;
    }
    return i;
  }
}
