package dev.sessionkeeper.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * TypeScript and Python workers keep the order while workers and servers are killed. Run with
 * {@code -Dworkers.messages=10000 -Dworkers.sessions=200 -Dworkers.kills=20} for the long form.
 */
class HttpWorkersTest {
  @Test
  void nothingIsLostOrOvertakenWhenWorkersAndServersAreKilled() throws Exception {
    Tools.requireNode();
    var python = Tools.requirePython();
    Tools.buildTypeScript();
    var run =
        new HttpWorkersRun(
            Integer.getInteger("workers.messages", 1_000),
            Integer.getInteger("workers.sessions", 40),
            Integer.getInteger("workers.kills", 6));
    var report = run.run(HttpWorkersRun.workers(python));
    System.out.println(report);
    assertThat(report.violations()).isEmpty();
    assertThat(report.handled()).isEqualTo(report.messages());
  }
}
