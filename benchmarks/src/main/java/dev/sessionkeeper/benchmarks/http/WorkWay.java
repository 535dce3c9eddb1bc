package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** One request settles the held sessions and accepts the next ones. */
record WorkWay(HttpCalls http, int consumers, int sessions, String patience) implements Way {
  private static final int MOST_MESSAGES = 100;

  @Override
  public String name() {
    return "work";
  }

  @Override
  public void declare(QueueName queue) {
    http.declare(queue);
  }

  @Override
  public void send(QueueName queue, Iterable<Outgoing> messages) {
    http.send(queue, messages);
  }

  @Override
  public Consuming consume(QueueName queue) {
    return new Rounds(queue);
  }

  private final class Rounds implements Consuming {
    private final QueueName queue;
    private String settle = "";
    private int inHand;
    private int goingOn;

    Rounds(QueueName queue) {
      this.queue = queue;
    }

    @Override
    public void step(Consumer<Supplier<String>> handler, IntConsumer completed) {
      // Sessions that continue keep their places.
      var take =
          ",\"take\":{\"sessions\":%d,\"messages\":%d,\"wait\":\"%s\",\"state\":false}"
              .formatted(Math.max(1, sessions - goingOn), MOST_MESSAGES, patience);
      handle(round(take, completed).sessions(), handler);
    }

    @Override
    public void end(IntConsumer completed) {
      if (inHand > 0) {
        round("", completed);
      }
    }

    private ReadWorkAnswer.Answer round(String take, IntConsumer completed) {
      var answer =
          http.work(
              queue,
              "{\"requestId\":\""
                  + UUID.randomUUID()
                  + "\",\"settle\":["
                  + settle
                  + "]"
                  + take
                  + "}");
      if (!answer.refused().isEmpty()) {
        throw new IllegalStateException("Not settled: " + answer.refused());
      }
      completed.accept(inHand);
      settle = "";
      inHand = 0;
      goingOn = 0;
      return answer;
    }

    private void handle(List<ReadWorkAnswer.Session> taken, Consumer<Supplier<String>> handler) {
      var next = new StringBuilder();
      for (var session : taken) {
        next.append(next.isEmpty() ? "" : ",").append("{\"leaseId\":\"");
        next.append(session.leaseId()).append("\",\"completed\":[");
        var comma = "";
        for (var message : session.messages()) {
          handler.accept(message::body);
          next.append(comma).append(message.sequence());
          comma = ",";
          inHand++;
        }
        boolean mayGoOn = session.messages().size() == MOST_MESSAGES;
        goingOn += mayGoOn ? 1 : 0;
        next.append("],\"then\":\"").append(mayGoOn ? "next" : "release").append("\"}");
      }
      settle = next.toString();
    }
  }
}
