package dev.sessionkeeper.postgres;

import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.store.Notices;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A listening connection through which nothing passes any more, although neither side sees its end.
 */
@Execution(ExecutionMode.SAME_THREAD)
class HalfOpenListenerTest {

  @Test
  void itIsReplaced() throws Exception {
    try (var database = TestDatabase.start()) {
      var url = URI.create(database.url().substring("jdbc:".length()));
      var source = new PGSimpleDataSource();
      source.setUrl(database.url());
      source.setUser(database.user());
      source.setPassword(database.password());
      var heard = new AtomicInteger();
      var begun = new AtomicInteger();
      try (var proxy = StallingProxy.to(url.getPort(), 1)) {
        source.setPortNumbers(new int[] {proxy.port()});
        try (var notices = Notices.over(database.pool(), source)) {
          notices.listen("half_open", ear(heard, begun));
          await()
              .atMost(Duration.ofSeconds(10))
              .until(
                  () -> {
                    notices.tell("half_open", "before");
                    return heard.get() > 0;
                  });
          proxy.arm();
          notices.tell("half_open", "lost");
          proxy.awaitStall();
          int before = begun.get();
          source.setPortNumbers(new int[] {url.getPort()});

          await().atMost(Duration.ofSeconds(20)).until(() -> begun.get() > before);
          int after = heard.get();
          notices.tell("half_open", "after");
          await().atMost(Duration.ofSeconds(10)).until(() -> heard.get() > after);
        }
      }
    }
  }

  private static Notices.Ear ear(AtomicInteger heard, AtomicInteger begun) {
    return new Notices.Ear() {
      @Override
      public void heard(String payload) {
        heard.incrementAndGet();
      }

      @Override
      public void everything() {
        begun.incrementAndGet();
      }
    };
  }
}
