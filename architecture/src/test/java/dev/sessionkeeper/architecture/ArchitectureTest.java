package dev.sessionkeeper.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.sessionkeeper.PlantedLibraryUser;
import dev.sessionkeeper.jobs.PlantedGuest;
import dev.sessionkeeper.spi.PlantedProcessorUser;
import dev.sessionkeeper.sqs.PlantedNeighbour;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every rule holds for the product, and every rule finds the planted class that breaks it. */
class ArchitectureTest {
  private static final JavaClasses PRODUCT =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.sessionkeeper");

  static Stream<Arguments> rules() {
    return Stream.of(
        rule(Rules.CORE_NEEDS_THE_JDK_AND_SLF4J_ONLY, PlantedLibraryUser.class),
        rule(Rules.VALUES_AND_SPI_DO_NOT_KNOW_THE_PROCESSOR, PlantedProcessorUser.class),
        rule(Rules.MEMORY_SEES_NO_OTHER_PROVIDER, dev.sessionkeeper.memory.PlantedNeighbour.class),
        rule(
            Rules.POSTGRES_SEES_NO_OTHER_PROVIDER,
            dev.sessionkeeper.postgres.PlantedNeighbour.class),
        rule(Rules.THE_SUBPACKAGES_OF_POSTGRES_ARE_INTERNAL, PlantedHabits.UsesInternals.class),
        rule(
            Rules.CALLS_IN_POSTGRES_HAVE_AT_MOST_SIX_ARGUMENTS,
            dev.sessionkeeper.postgres.PlantedCall.class),
        rule(Rules.SQS_SEES_NO_OTHER_PROVIDER, PlantedNeighbour.class),
        rule(
            Rules.SERVICEBUS_SEES_NO_OTHER_PROVIDER,
            dev.sessionkeeper.servicebus.PlantedNeighbour.class),
        rule(
            Rules.CODECS_AND_METERS_KNOW_CORE_ONLY,
            dev.sessionkeeper.micrometer.PlantedNeighbour.class),
        rule(Rules.ONLY_SPRING_MODULES_KNOW_SPRING, PlantedHabits.KnowsSpring.class),
        rule(
            Rules.SPRING_WITHOUT_BOOT_DOES_NOT_KNOW_BOOT,
            dev.sessionkeeper.spring.PlantedBooter.class),
        rule(
            Rules.ONE_CLASS_OF_THE_PROVIDER_CALLS_THE_SERVER,
            dev.sessionkeeper.client.provider.PlantedCaller.class),
        rule(Rules.ONLY_THE_COMMAND_LINE_SEES_THE_SERVER, PlantedGuest.class),
        rule(Rules.FEATURES_DO_NOT_KNOW_PROVIDERS, PlantedGuest.class),
        rule(
            Rules.FEATURES_DO_NOT_DECIDE_ABOUT_ACCESS,
            dev.sessionkeeper.server.queues.PlantedJudge.class),
        rule(Rules.NOTHING_READS_THE_WALL_CLOCK_BUT_ITS_PORT, PlantedHabits.ReadsTheClock.class),
        rule(Rules.NO_JAVA_SERIALISATION, PlantedHabits.Serialises.class),
        rule(Rules.SECRETS_ARE_COMPARED_IN_CONSTANT_TIME, PlantedHabits.ChecksSignature.class),
        rule(Rules.LIBRARIES_DO_NOT_PRINT, PlantedHabits.Prints.class));
  }

  @ParameterizedTest
  @MethodSource("rules")
  void theProductKeepsTheRule(ArchRule rule, Class<?> planted) {
    rule.check(PRODUCT);
  }

  @ParameterizedTest
  @MethodSource("rules")
  void theRuleBarksAtThePlantedClass(ArchRule rule, Class<?> planted) {
    var result = rule.evaluate(new ClassFileImporter().importClasses(planted));

    assertThat(result.hasViolation()).as("%s at %s", rule, planted).isTrue();
  }

  @ParameterizedTest
  @FieldSource("dev.sessionkeeper.architecture.Rules#MODULES_WITHOUT_CYCLES")
  void thePackagesOfTheModuleFormNoCycle(String module) {
    Rules.hasNoCycle(module).check(PRODUCT);
  }

  @Test
  void thePackagesOfCoreFormNoCycle() {
    Rules.CORE_HAS_NO_CYCLE.check(PRODUCT);
  }

  @Test
  void aCycleIsSeen() {
    var cycle =
        new ClassFileImporter().importPackages("dev.sessionkeeper.architecture.planted.cycle");
    assertThat(
            slices()
                .matching("dev.sessionkeeper.architecture.planted.cycle.(*)")
                .should()
                .beFreeOfCycles()
                .evaluate(cycle)
                .hasViolation())
        .isTrue();
  }

  @Test
  void theProductIsReallyLookedAt() {
    assertThat(PRODUCT.size()).isGreaterThan(300);
    assertThat(PRODUCT.contain("dev.sessionkeeper.processor.ServeSession")).isTrue();
    assertThat(PRODUCT.contain("dev.sessionkeeper.memory.MemoryQueueProvider")).isTrue();
    assertThat(PRODUCT.contain("dev.sessionkeeper.server.Serve")).isTrue();
    assertThat(PRODUCT.contain("dev.sessionkeeper.spring.SessionListeners")).isTrue();
    assertThat(PRODUCT.contain("dev.sessionkeeper.spring.boot.SessionkeeperProperties")).isTrue();
    assertThat(PRODUCT.contain("dev.sessionkeeper.jackson.JacksonCodec")).isTrue();
    assertThat(PRODUCT.contain("dev.sessionkeeper.micrometer.ProcessorMeters")).isTrue();
    assertThat(PRODUCT.contain(PlantedGuest.class)).isFalse();
  }

  private static Arguments rule(ArchRule rule, Class<?> planted) {
    return Arguments.of(rule, planted);
  }
}
