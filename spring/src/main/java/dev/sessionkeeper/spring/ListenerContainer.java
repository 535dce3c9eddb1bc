package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.DrainReport;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.processor.SessionProcessor.State;
import java.util.List;
import java.util.function.Supplier;

/** One listener and its processor; a processor that has ended is replaced by a new one. */
final class ListenerContainer implements RunningListener {
  private final ListenerDefinition definition;
  private final Supplier<SessionProcessor> processors;
  private SessionProcessor processor;
  private boolean stopping;

  ListenerContainer(ListenerDefinition definition, Supplier<SessionProcessor> processors) {
    this.definition = definition;
    this.processors = processors;
    this.processor = processors.get();
  }

  synchronized void start() {
    stopping = false;
    if (processor.state() == State.CLOSED || processor.state() == State.DRAINING) {
      processor = processors.get();
    }
    if (processor.state() == State.NEW) {
      processor.start();
    }
  }

  DrainReport stop() {
    SessionProcessor running;
    synchronized (this) {
      stopping = true;
      running = processor;
    }
    return running.state() == State.NEW ? new DrainReport(0, List.of()) : running.drain();
  }

  @Override
  public String id() {
    return definition.id();
  }

  @Override
  public QueueName queue() {
    return definition.queue();
  }

  @Override
  public synchronized State state() {
    return processor.state();
  }

  @Override
  public synchronized boolean isStoppedByPoison() {
    return !stopping && (state() == State.CLOSED || state() == State.DRAINING);
  }

  @Override
  public synchronized int activeSessions() {
    return processor.activeSessions();
  }

  @Override
  public synchronized int concurrency() {
    return processor.options().maxConcurrentSessions();
  }

  @Override
  public synchronized void pause() {
    processor.pause();
  }

  @Override
  public synchronized void resume() {
    if (processor.state() == State.PAUSED) {
      processor.resume();
    } else {
      start();
    }
  }

  @Override
  public synchronized void changeConcurrency(int sessions) {
    processor.changeConcurrency(sessions);
  }
}
