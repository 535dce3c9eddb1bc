package dev.sessionkeeper.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** TypeScript and Python workers keep the order while workers and servers are killed. */
class HttpWorkersTest {
  @Test
  void nothingIsLostOrOvertakenWhenWorkersAndServersAreKilled() throws Exception {
    Tools.requireNode();
    var python = Tools.requirePython();
    Tools.buildTypeScript();
    var report = new HttpWorkersRun(1_000, 40, 6).run(HttpWorkersRun.workers(python));
    System.out.println(report);
    assertThat(report.violations()).isEmpty();
    assertThat(report.handled()).isEqualTo(report.messages());
  }
}
