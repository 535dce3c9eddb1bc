package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelEoSStreamProcessor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Confluent's parallel consumer, ordered by key, on a Kafka of one node: four partitions, {@code
 * acks=all}, 16 workers, offsets committed at its default interval. Sends wait for the answers of
 * the whole batch.
 */
final class KafkaArm implements Arm {
  private static final String TOPIC = "bench";
  private static final int PARTITIONS = 4;
  private static final int WORKERS = 16;

  /**
   * The settings by which records reach the workers.
   *
   * @param buffer records held in memory; 0 leaves it to the parallel consumer
   * @param perPoll records per poll
   * @param together records per call of the handler, of as many keys
   */
  private record Hand(int buffer, int perPoll, int together) {}

  private final Hand hand;
  private final KafkaBroker broker;
  private final KafkaProducer<String, byte[]> producer;
  private @Nullable ParallelEoSStreamProcessor<String, byte[]> consumer;

  private KafkaArm(Hand hand, KafkaBroker broker) {
    this.hand = hand;
    this.broker = broker;
    this.producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.address(), "acks", "all", "batch.size", 256 * 1024),
            new StringSerializer(),
            new ByteArraySerializer());
  }

  /** Uses the best options found for a handler that does nothing. */
  static KafkaArm tuned() throws Exception {
    return open(new Hand(20_000, 5_000, 10));
  }

  /** Uses its defaults. */
  static KafkaArm withDefaults() throws Exception {
    return open(new Hand(0, 500, 1));
  }

  private static KafkaArm open(Hand hand) throws Exception {
    var broker = KafkaBroker.start();
    try (var admin = Admin.create(Map.of("bootstrap.servers", broker.address()))) {
      admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get();
    }
    return new KafkaArm(hand, broker);
  }

  @Override
  public Producer producer() {
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) throws Exception {
        var answers =
            IntStream.range(0, sessions.length)
                .<Future<RecordMetadata>>mapToObj(
                    i ->
                        producer.send(
                            new ProducerRecord<>(TOPIC, "customer-" + sessions[i], bodies[i])))
                .toList();
        for (var answer : answers) {
          answer.get();
        }
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void consume(Load load) {
    var records =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", broker.address(),
                "group.id", "bench",
                "enable.auto.commit", "false",
                "auto.offset.reset", "earliest",
                "max.poll.records", hand.perPoll),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    var options =
        ParallelConsumerOptions.<String, byte[]>builder()
            .consumer(records)
            .ordering(ProcessingOrder.KEY)
            .maxConcurrency(WORKERS)
            .messageBufferSize(hand.buffer)
            .batchSize(hand.together)
            .commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
            .build();
    consumer = new ParallelEoSStreamProcessor<>(options);
    consumer.subscribe(List.of(TOPIC));
    consumer.poll(
        polled -> polled.forEach(record -> load.handle(record.getConsumerRecord().value())));
  }

  @Override
  public void stopConsuming() {
    if (consumer != null) {
      consumer.closeDontDrainFirst();
      consumer = null;
    }
  }

  @Override
  public void close() throws Exception {
    stopConsuming();
    producer.close();
    broker.close();
  }
}
