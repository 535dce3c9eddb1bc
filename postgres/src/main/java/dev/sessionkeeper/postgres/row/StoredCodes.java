package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.spi.SessionStatus;

/** The numbers in tables that stand for Java names. They never change. */
public final class StoredCodes {
  private StoredCodes() {}

  public static short of(Payload.Form form) {
    return switch (form) {
      case JSON -> 0;
      case TEXT -> 1;
      case BYTES -> 2;
    };
  }

  public static Payload.Form form(int code) {
    return switch (code) {
      case 0 -> Payload.Form.JSON;
      case 1 -> Payload.Form.TEXT;
      case 2 -> Payload.Form.BYTES;
      default -> throw new IllegalStateException("Unknown form of a body: " + code);
    };
  }

  public static int of(SessionStatus status) {
    return switch (status) {
      case READY -> 0;
      case HELD -> 1;
      case WAITING -> 2;
      case PARKED -> 3;
      case PAUSED -> 4;
    };
  }

  public static SessionStatus status(int code) {
    return switch (code) {
      case 0 -> SessionStatus.READY;
      case 1 -> SessionStatus.HELD;
      case 2 -> SessionStatus.WAITING;
      case 3 -> SessionStatus.PARKED;
      case 4 -> SessionStatus.PAUSED;
      default -> throw new IllegalStateException("Unknown status of a session row: " + code);
    };
  }
}
