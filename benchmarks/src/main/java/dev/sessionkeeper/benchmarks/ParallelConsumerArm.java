package dev.sessionkeeper.benchmarks;

import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelEoSStreamProcessor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;

/**
 * Confluent's parallel consumer, ordered by key, on an in-memory consumer: no broker, no network.
 *
 * <p>All records are in one partition of Kafka's own {@code MockConsumer} before the clock starts,
 * and offsets are committed to it, as by default. Workers, buffer and poll size are the best found
 * for a handler that does nothing; with its defaults (a buffer of twice the workers, 500 records
 * per poll) it was three to five times slower.
 */
final class ParallelConsumerArm implements Arm {
  private static final TopicPartition PARTITION = new TopicPartition("bench", 0);
  private static final int WORKERS = 16;
  private static final int BUFFER = 20_000;
  private static final int PER_POLL = 5_000;

  @Override
  public String name() {
    return "parallel-consumer KEY";
  }

  @Override
  public Took run(Load load) {
    var counted = new LongAdder();
    var consumer = new PatientMockConsumer();
    var options =
        ParallelConsumerOptions.<String, byte[]>builder()
            .consumer(consumer)
            .ordering(ProcessingOrder.KEY)
            .maxConcurrency(WORKERS)
            .messageBufferSize(BUFFER)
            .commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
            .build();
    try (var peer = new ParallelEoSStreamProcessor<String, byte[]>(options)) {
      peer.subscribe(List.of(PARTITION.topic()));
      consumer.rebalance(List.of(PARTITION));
      consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
      peer.onPartitionsAssigned(List.of(PARTITION));
      var payload = new byte[256];
      for (int i = 0; i < load.messages(); i++) {
        consumer.addRecord(
            new ConsumerRecord<>(
                PARTITION.topic(), 0, i, "session-" + i % load.sessions(), payload));
      }
      System.gc();
      var started = Took.now();
      peer.poll(record -> counted.increment());
      while (counted.sum() < load.messages()) {
        LockSupport.parkNanos(200_000);
      }
      return started.since();
    }
  }

  /**
   * A mock that waits if it has no record. The original returns at once, so its caller would occupy
   * a core.
   */
  private static final class PatientMockConsumer extends MockConsumer<String, byte[]> {
    PatientMockConsumer() {
      super(OffsetResetStrategy.EARLIEST);
      setMaxPollRecords(PER_POLL);
    }

    @Override
    @SuppressWarnings(
        "UnsynchronizedOverridesSynchronized") // It must not park while it holds the lock.
    public ConsumerRecords<String, byte[]> poll(Duration timeout) {
      var records = super.poll(timeout);
      if (records.isEmpty()) {
        LockSupport.parkNanos(Math.min(timeout.toNanos(), 1_000_000));
      }
      return records;
    }
  }
}
