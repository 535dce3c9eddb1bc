package dev.sessionkeeper.server.http;

import dev.sessionkeeper.store.Actor;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * Limits concurrent event streams, in total and per credential. Callers of a server without
 * credentials share all places.
 */
public final class ReaderPlaces {
  private static final Duration LATER = Duration.ofSeconds(5);

  private final IntSupplier most;
  private final IntSupplier mostPerCredential;
  private final Map<String, Integer> taken = new HashMap<>();
  private int all;

  public ReaderPlaces(IntSupplier most, IntSupplier mostPerCredential) {
    this.most = most;
    this.mostPerCredential = mostPerCredential;
  }

  /** A place in use until it is closed; closing it again does nothing. */
  public final class Place implements AutoCloseable {
    private final String credential;
    private boolean closed;

    private Place(String credential) {
      this.credential = credential;
    }

    @Override
    public void close() {
      synchronized (ReaderPlaces.this) {
        if (!closed) {
          closed = true;
          all--;
          taken.computeIfPresent(credential, (name, count) -> count == 1 ? null : count - 1);
        }
      }
    }
  }

  /**
   * Takes a place.
   *
   * @throws ProblemException 503 if none is left, or none for this credential
   */
  public synchronized Place take(String credential) {
    if (all >= most.getAsInt()) {
      throw refusal("There are " + most.getAsInt() + " readers already");
    }
    int share = mostPerCredential.getAsInt();
    boolean isShared = credential.equals(Actor.LOCAL);
    if (!isShared && taken.getOrDefault(credential, 0) >= share) {
      throw refusal("This credential has " + share + " readers already; end one of them first");
    }
    all++;
    taken.merge(credential, 1, Integer::sum);
    return new Place(credential);
  }

  private static ProblemException refusal(String detail) {
    return ProblemType.OVERLOADED.with(detail).retryAfter(LATER).toException();
  }
}
