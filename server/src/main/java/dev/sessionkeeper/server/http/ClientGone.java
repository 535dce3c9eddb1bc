package dev.sessionkeeper.server.http;

/** Reports that the client has closed its connection. */
public final class ClientGone extends RuntimeException {
  private static final long serialVersionUID = 1;

  ClientGone() {
    super("The client has closed its connection", null, false, false);
  }
}
