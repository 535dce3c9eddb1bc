package dev.sessionkeeper.server.samples;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.ReaderPlaces;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.ResponseStream;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Json;
import dev.sessionkeeper.store.Database;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Serves the numbers of queues over time, as lists and live. */
public final class SamplesFeature implements Feature {
  private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int MOST_READERS = 1_000;
  private static final int MOST_READERS_PER_CREDENTIAL = 250;

  private final ReaderPlaces places =
      new ReaderPlaces(() -> MOST_READERS, () -> MOST_READERS_PER_CREDENTIAL);
  private final SampleQueues samples;

  private SamplesFeature(Context context) {
    var engine = context.engine();
    ReadNumbers numbers =
        engine.queues() instanceof PostgresQueueProvider && engine.database().isPresent()
            ? new PostgresNumbers(Database.of(engine.database().get()))
            : new ProviderNumbers(engine.queues());
    samples = new SampleQueues(numbers, context.time());
    samples.look();
    samples.start();
  }

  public static Feature open(Context context) {
    return new SamplesFeature(context);
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/samples", Role.READ, Scope.queues(), this::list)
            .summary("Rates, depth and age of a queue, or of all, over the last half hour")
            .query("queue", "Only of this queue")
            .query("last", "Only so long back, as in PT10M; the default is PT30M")
            .answers(200, "One list for each number", SampleView.class)
            .problems(ProblemType.UNKNOWN_QUEUE),
        Route.get("/samples/queues", Role.READ, Scope.queues(), this::queues)
            .summary("The newest numbers of each queue, with its depth over the last minutes")
            .query("queue", "Only of this queue")
            .answers(200, "By name", Queues.class),
        Route.get("/samples/live", Role.READ, Scope.queues(), this::live)
            .summary(
                "The newest numbers every two seconds as server-sent events, and an event when they"
                    + " changed")
            .query("queue", "Only of this queue")
            .answers(200, "Events until either side ends", "text/event-stream")
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.OVERLOADED));
  }

  /** The newest numbers of one queue. */
  record Line(
      String queue,
      String mode,
      String poisonPolicy,
      long depth,
      long dead,
      long parked,
      long paused,
      long held,
      Duration oldestAge,
      Optional<Double> in,
      Optional<Double> out,
      List<Long> depths) {}

  /** The newest numbers of each queue, by name. */
  record Queues(Optional<Instant> at, List<Line> queues) {}

  private record Wish(Optional<QueueName> queue, Duration last) {}

  private static Wish wish(Request request) {
    var wish =
        request.query(
            in -> {
              var queue = in.optional("queue", Decode.text().map(QueueName::of));
              var last =
                  in.optional(
                      "last", HALF_AN_HOUR, Decode.duration(Duration.ofSeconds(1), HALF_AN_HOUR));
              in.check();
              return new Wish(queue.get(), last.get());
            });
    wish.queue()
        .filter(name -> !request.reach().includes(name))
        .ifPresent(
            name -> {
              throw ProblemType.UNKNOWN_QUEUE.with("There is no queue " + name).toException();
            });
    return wish;
  }

  private Response list(Request request) {
    var wish = wish(request);
    return Response.ok(SampleView.of(samples.last(wish.last()), wish.queue(), request.reach()));
  }

  private Response queues(Request request) {
    var reach = request.reach();
    var wanted =
        request.query(
            in -> {
              var queue = in.optional("queue", Decode.text(200));
              in.check();
              return queue.get();
            });
    var recent = samples.last(Duration.ofMinutes(5));
    var newest = samples.newest();
    var lines =
        newest.stream()
            .flatMap(sample -> sample.queues().entrySet().stream())
            .filter(entry -> wanted.map(entry.getKey()::equals).orElse(true))
            .filter(entry -> reach.includes(QueueName.of(entry.getKey())))
            .sorted(Map.Entry.comparingByKey())
            .map(entry -> line(entry.getKey(), entry.getValue(), recent))
            .toList();
    return Response.ok(new Queues(newest.map(Sample::at), lines));
  }

  private static Line line(String queue, Sample.Numbers now, List<Sample> recent) {
    var name = Optional.of(QueueName.of(queue));
    var rates =
        recent.size() < 2
            ? Optional.<SampleView.Point>empty()
            : Optional.of(
                SampleView.point(
                    recent.get(Math.max(0, recent.size() - 6)),
                    recent.getLast(),
                    name,
                    Reach.EVERYTHING));
    return new Line(
        queue,
        now.mode(),
        now.poisonPolicy(),
        Math.max(0, now.depth()),
        now.dead(),
        now.parked(),
        now.paused(),
        now.held(),
        Duration.ofMillis(now.oldestMillis()),
        rates.flatMap(SampleView.Point::in),
        rates.flatMap(SampleView.Point::out),
        recent.stream()
            .map(sample -> sample.queues().get(queue))
            .filter(numbers -> numbers != null)
            .map(numbers -> Math.max(0, numbers.depth()))
            .toList());
  }

  private Response live(Request request) {
    var wish = wish(request);
    var live = new Live(wish, request.reach(), places.take(request.actor().name()));
    return Response.stream("text/event-stream", live).header("X-Accel-Buffering", "no");
  }

  private final class Live implements Response.StreamBody {
    private final Wish wish;
    private final Reach reach;
    private final ReaderPlaces.Place place;

    Live(Wish wish, Reach reach, ReaderPlaces.Place place) {
      this.wish = wish;
      this.reach = reach;
      this.place = place;
    }

    @Override
    public void writeTo(ResponseStream out) throws Exception {
      follow(out, wish, reach);
    }

    @Override
    public void ended() {
      place.close();
    }
  }

  private void follow(ResponseStream out, Wish wish, Reach reach) throws Exception {
    var seen = samples.newest();
    while (out.isOpen()) {
      var before = seen;
      var next = out.await(() -> samples.after(before, PATIENCE));
      if (next.isEmpty()) {
        return; // The server shuts down.
      }
      byte[] text;
      if (next.get().isPresent() && before.isPresent() && !next.get().equals(before)) {
        var point = SampleView.point(before.get(), next.get().get(), wish.queue(), reach);
        var data = new String(Json.write(point), StandardCharsets.UTF_8);
        boolean isChanged =
            !known(before.get(), wish, reach).equals(known(next.get().get(), wish, reach));
        var changed = isChanged ? "event: changed\ndata: {}\n\n" : "";
        text = ("event: sample\ndata: " + data + "\n\n" + changed).getBytes(StandardCharsets.UTF_8);
      } else {
        text = ": no news\n\n".getBytes(StandardCharsets.UTF_8);
      }
      seen = next.get().isPresent() ? next.get() : before;
      if (!out.write(text, PATIENCE)) {
        return;
      }
    }
  }

  /** Returns the numbers that the caller sees, without ages, which change by themselves. */
  private static Map<String, Sample.Numbers> known(Sample sample, Wish wish, Reach reach) {
    return sample.queues().entrySet().stream()
        .filter(entry -> reach.includes(QueueName.of(entry.getKey())))
        .filter(entry -> wish.queue().map(name -> name.value().equals(entry.getKey())).orElse(true))
        .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().withoutAge()));
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    // The feature has no configuration.
  }

  @Override
  public void close() {
    samples.close();
  }
}
