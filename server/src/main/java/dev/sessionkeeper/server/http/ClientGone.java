package dev.sessionkeeper.server.http;

/** The client has closed its connection: nobody waits for the answer any more. */
public final class ClientGone extends RuntimeException {
  private static final long serialVersionUID = 1;

  ClientGone() {
    super("The client has closed its connection", null, false, false);
  }
}
