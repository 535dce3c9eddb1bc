package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import tools.jackson.databind.JsonNode;

/** One request settles the sessions in hand and takes the next ones. */
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

    Rounds(QueueName queue) {
      this.queue = queue;
    }

    @Override
    public void step(Consumer<String> handler, IntConsumer completed) {
      var take =
          ",\"take\":{\"sessions\":%d,\"messages\":%d,\"wait\":\"%s\"}"
              .formatted(sessions, MOST_MESSAGES, patience);
      handle(round(take, completed).get("sessions"), handler);
    }

    @Override
    public void end(IntConsumer completed) {
      if (inHand > 0) {
        round("", completed);
      }
    }

    private JsonNode round(String take, IntConsumer completed) {
      var answer =
          http.work(
              queue,
              "{\"requestId\":\"" + UUID.randomUUID() + "\",\"settle\":[" + settle + "]" + take + "}");
      for (var each : answer.get("settled")) {
        if (!each.get("outcome").stringValue().equals("settled")) {
          throw new IllegalStateException("Not settled: " + each);
        }
      }
      completed.accept(inHand);
      settle = "";
      inHand = 0;
      return answer;
    }

    private void handle(JsonNode taken, Consumer<String> handler) {
      var next = new StringBuilder();
      for (var session : taken) {
        next.append(next.isEmpty() ? "" : ",").append("{\"leaseId\":\"");
        next.append(session.get("leaseId").stringValue()).append("\",\"settlements\":[");
        var comma = "";
        for (var message : session.get("messages")) {
          handler.accept(message.get("body").toString());
          next.append(comma).append("{\"sequence\":").append(message.get("sequence").longValue());
          next.append(",\"action\":\"complete\"}");
          comma = ",";
          inHand++;
        }
        next.append("]}");
      }
      settle = next.toString();
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
