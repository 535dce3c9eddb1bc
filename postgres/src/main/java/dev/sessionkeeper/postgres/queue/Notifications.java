package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.Notices;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends and receives notifications about queues. Best effort: a process that misses one polls
 * within a second.
 */
public final class Notifications implements AutoCloseable {
  private static final String CHANNEL = "keeper_queues";

  private final Notices notices;
  private final Node node;
  private final Heard heard;
  private final AtomicBoolean isListening = new AtomicBoolean();

  public Notifications(Notices notices, Node node, Heard heard) {
    this.notices = notices;
    this.node = node;
    this.heard = heard;
  }

  /** Reacts to notifications. */
  public interface Heard {
    void wake(int queue);

    void news(int queue, SessionId session);

    void deleted(int queue);

    /** Answers another process, which requests sessions from the readers of the queue. */
    void asked(int queue);

    /** Polls everything, because notifications may have been missed. */
    void everything();
  }

  /** Notifies that messages were sent to the queue. */
  public void sent(int queue) {
    notices.tell(CHANNEL, "q " + node.id() + " " + queue);
  }

  /** Notifies a node that a session it holds has new messages. */
  public void news(String ofNode, int queue, SessionId session) {
    notices.tell(CHANNEL, "n " + ofNode + " " + queue + " " + session);
  }

  /** Notifies the readers of the queue that this process requests sessions. */
  void asked(int queue) {
    notices.tell(CHANNEL, "a " + node.id() + " " + queue);
  }

  /** Notifies that the queue was deleted. */
  public void deleted(int queue) {
    notices.tell(CHANNEL, "d " + node.id() + " " + queue);
  }

  /** Begins to listen. */
  void listen() {
    if (!isListening.get() && isListening.compareAndSet(false, true)) {
      notices.listen(CHANNEL, new Ear());
    }
  }

  private final class Ear implements Notices.Ear {
    @Override
    public void heard(String payload) {
      var parts = payload.split(" ", 4);
      boolean fromHere = parts[1].equals(node.id());
      if (parts[0].equals("q") && !fromHere) {
        heard.wake(Integer.parseInt(parts[2]));
      } else if (parts[0].equals("n") && fromHere) {
        heard.news(Integer.parseInt(parts[2]), SessionId.of(parts[3]));
      } else if (parts[0].equals("d") && !fromHere) {
        heard.deleted(Integer.parseInt(parts[2]));
      } else if (parts[0].equals("a") && !fromHere) {
        heard.asked(Integer.parseInt(parts[2]));
      }
    }

    @Override
    public void everything() {
      heard.everything();
    }
  }

  @Override
  public void close() {
    notices.forget(CHANNEL);
  }
}
