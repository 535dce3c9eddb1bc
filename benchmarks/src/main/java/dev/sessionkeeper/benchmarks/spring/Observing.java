package dev.sessionkeeper.benchmarks.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.MessageHandler;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;

/** Meters and observations as Boot's actuator registers them: a timer for each observation. */
record Observing(MeterRegistry meters, ObservationRegistry observations) {

  static Observing asActuator() {
    var meters = new SimpleMeterRegistry();
    var observations = ObservationRegistry.create();
    observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
    return new Observing(meters, observations);
  }

  /** Returns the handler, observed as an application without Spring does it by hand. */
  MessageHandler observed(QueueName queue, MessageHandler handler) {
    return (delivery, session) ->
        Observation.createNotStarted("keeper.listener", observations)
            .contextualName("process " + queue)
            .lowCardinalityKeyValue("queue", queue.value())
            .lowCardinalityKeyValue("listener", "bench")
            .lowCardinalityKeyValue("outcome", "complete")
            .highCardinalityKeyValue("session", session.id().value())
            .highCardinalityKeyValue("message", delivery.id().value())
            .observeChecked(() -> handler.handle(delivery, session));
  }
}
