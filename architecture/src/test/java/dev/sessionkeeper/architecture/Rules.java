package dev.sessionkeeper.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameContaining;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Date;
import java.util.List;

/** The rules between modules, and the bans. Each has a planted class that breaks it. */
final class Rules {
  static final String[] CORE = {
    "dev.sessionkeeper",
    "dev.sessionkeeper.spi",
    "dev.sessionkeeper.processor",
    "dev.sessionkeeper.sender",
    "dev.sessionkeeper.time",
    "dev.sessionkeeper.webhook"
  };

  static final ArchRule CORE_NEEDS_THE_JDK_AND_SLF4J_ONLY =
      classes()
          .that(resideInAnyPackage(CORE))
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(CORE)
                  .or(
                      resideInAnyPackage(
                          "java..",
                          "javax.crypto..",
                          "javax.net..",
                          "org.slf4j..",
                          "org.jspecify.annotations..")));

  static final ArchRule VALUES_AND_SPI_DO_NOT_KNOW_THE_PROCESSOR =
      noClasses()
          .that(
              resideInAnyPackage(
                  "dev.sessionkeeper", "dev.sessionkeeper.spi", "dev.sessionkeeper.time"))
          .should()
          .dependOnClassesThat(resideInAPackage("dev.sessionkeeper.processor.."));

  static final ArchRule MEMORY_SEES_NO_OTHER_PROVIDER =
      seesNoOther("memory", "postgres", "sqs", "servicebus");
  static final ArchRule POSTGRES_SEES_NO_OTHER_PROVIDER =
      seesNoOther("postgres", "memory", "sqs", "servicebus");
  static final ArchRule SQS_SEES_NO_OTHER_PROVIDER =
      seesNoOther("sqs", "memory", "postgres", "servicebus");
  static final ArchRule SERVICEBUS_SEES_NO_OTHER_PROVIDER =
      seesNoOther("servicebus", "memory", "postgres", "sqs");

  /**
   * The subpackages of postgres share public types, because Java has no packages inside a module;
   * other modules must not use them.
   */
  static final ArchRule THE_SUBPACKAGES_OF_POSTGRES_ARE_INTERNAL =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper..")
                  .and(DescribedPredicate.not(resideInAPackage("dev.sessionkeeper.postgres.."))))
          .should()
          .dependOnClassesThat(resideInAPackage("dev.sessionkeeper.postgres.*.."))
          .because("applications use the package dev.sessionkeeper.postgres");

  /**
   * Calls in postgres have at most six arguments, except constructors of result records with a
   * component for each field of an answer.
   */
  static final ArchRule CALLS_IN_POSTGRES_HAVE_AT_MOST_SIX_ARGUMENTS =
      noClasses()
          .that(resideInAPackage("dev.sessionkeeper.postgres.."))
          .should()
          .callCodeUnitWhere(
              DescribedPredicate.describe(
                  "has more than six arguments",
                  call ->
                      call.getTarget().getRawParameterTypes().size() > 6
                          && call.getTargetOwner()
                              .getPackageName()
                              .startsWith("dev.sessionkeeper.postgres")
                          && !isResult(call.getTargetOwner())));

  static final ArchRule CODECS_AND_METERS_KNOW_CORE_ONLY =
      noClasses()
          .that(resideInAnyPackage("dev.sessionkeeper.jackson..", "dev.sessionkeeper.micrometer.."))
          .should()
          .dependOnClassesThat(
              resideInAPackage("dev.sessionkeeper..")
                  .and(DescribedPredicate.not(resideInAnyPackage(CORE)))
                  .and(
                      DescribedPredicate.not(
                          resideInAnyPackage(
                              "dev.sessionkeeper.jackson..", "dev.sessionkeeper.micrometer.."))));

  static final ArchRule ONLY_SPRING_MODULES_KNOW_SPRING =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper..")
                  .and(
                      DescribedPredicate.not(
                          resideInAnyPackage(
                              "dev.sessionkeeper.spring..",
                              "dev.sessionkeeper.examples.spring.."))))
          .should()
          .dependOnClassesThat(resideInAPackage("org.springframework.."));

  static final ArchRule SPRING_WITHOUT_BOOT_DOES_NOT_KNOW_BOOT =
      noClasses()
          .that(resideInAPackage("dev.sessionkeeper.spring"))
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("org.springframework.boot..", "dev.sessionkeeper.spring.boot.."));

  static final ArchRule ONE_CLASS_OF_THE_PROVIDER_CALLS_THE_SERVER =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper.client.provider")
                  .and(DescribedPredicate.not(simpleName("ServerCalls")))
                  .and(DescribedPredicate.not(simpleNameContaining("ServerCalls$"))))
          .should()
          .callMethodWhere(
              DescribedPredicate.describe(
                  "calls the server",
                  call ->
                      call.getTargetOwner()
                              .getFullName()
                              .equals("dev.sessionkeeper.client.KeeperClient")
                          && !call.getTarget().getName().equals("encoded")));

  static final ArchRule ONLY_THE_COMMAND_LINE_SEES_THE_SERVER =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper..")
                  .and(
                      DescribedPredicate.not(
                          resideInAnyPackage(
                              "dev.sessionkeeper.server..", "dev.sessionkeeper.cli.."))))
          .should()
          .dependOnClassesThat(resideInAPackage("dev.sessionkeeper.server.."));

  static final ArchRule FEATURES_DO_NOT_KNOW_PROVIDERS =
      noClasses()
          .that(
              resideInAnyPackage(
                  "dev.sessionkeeper.jobs..",
                  "dev.sessionkeeper.registry..",
                  "dev.sessionkeeper.coalescing..",
                  "dev.sessionkeeper.cursors..",
                  "dev.sessionkeeper.github.."))
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "dev.sessionkeeper.memory..",
                  "dev.sessionkeeper.postgres..",
                  "dev.sessionkeeper.sqs..",
                  "dev.sessionkeeper.servicebus.."));

  static final ArchRule FEATURES_DO_NOT_DECIDE_ABOUT_ACCESS =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper.server..")
                  .and(
                      DescribedPredicate.not(
                          resideInAnyPackage(
                              "dev.sessionkeeper.server.http",
                              "dev.sessionkeeper.server.security",
                              "dev.sessionkeeper.server.activity"))))
          .should()
          .dependOnClassesThat(
              DescribedPredicate.describe(
                  "tell a caller's credential",
                  type -> type.getName().equals("dev.sessionkeeper.server.http.Caller")))
          .because("the kernel checks role and scope, and hands handlers one reach for their rows");

  /**
   * The modules whose packages must form no cycle, by the package below {@code dev.sessionkeeper}.
   */
  static final List<String> MODULES_WITHOUT_CYCLES =
      List.of(
          "cli",
          "client",
          "coalescing",
          "cursors",
          "embedded",
          "github",
          "jackson",
          "jobs",
          "memory",
          "micrometer",
          "postgres",
          "registry",
          "server",
          "servicebus",
          "simulator",
          "spring",
          "sqs",
          "store",
          "testkit",
          "tracing",
          "webhook");

  /** The packages of core are the root package and those beside the modules. */
  static final ArchRule CORE_HAS_NO_CYCLE =
      slices().assignedFrom(new CorePackages()).should().beFreeOfCycles();

  static ArchRule hasNoCycle(String module) {
    return slices().matching("dev.sessionkeeper.(" + module + "..)").should().beFreeOfCycles();
  }

  static final ArchRule NOTHING_READS_THE_WALL_CLOCK_BUT_ITS_PORT =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper..")
                  .and(DescribedPredicate.not(simpleNameContaining("SystemTimeSource"))))
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(LocalDate.class, "now")
          .orShould()
          .callMethod(LocalDateTime.class, "now")
          .orShould()
          .callMethod(OffsetDateTime.class, "now")
          .orShould()
          .callMethod(ZonedDateTime.class, "now")
          .orShould()
          .callMethod(Clock.class, "systemUTC")
          .orShould()
          .callMethod(Clock.class, "systemDefaultZone")
          .orShould()
          .callConstructor(Date.class);

  static final ArchRule NO_JAVA_SERIALISATION =
      noClasses()
          .that(resideInAPackage("dev.sessionkeeper.."))
          .should()
          .dependOnClassesThat(
              DescribedPredicate.describe(
                  "read or write serialised objects",
                  type ->
                      type.isEquivalentTo(ObjectInputStream.class)
                          || type.isEquivalentTo(ObjectOutputStream.class)));

  static final ArchRule SECRETS_ARE_COMPARED_IN_CONSTANT_TIME =
      noClasses()
          .that(resideInAPackage("dev.sessionkeeper..").and(aboutSecrets()))
          .should()
          .callMethod(String.class, "equals", Object.class)
          .orShould()
          .callMethod(String.class, "equalsIgnoreCase", String.class)
          .orShould()
          .callMethod(Arrays.class, "equals", byte[].class, byte[].class)
          .because("MessageDigest.isEqual does not tell how much of a guess was right");

  static final ArchRule LIBRARIES_DO_NOT_PRINT =
      noClasses()
          .that(
              resideInAPackage("dev.sessionkeeper..")
                  .and(
                      DescribedPredicate.not(
                          resideInAnyPackage(
                              "dev.sessionkeeper.cli..",
                              "dev.sessionkeeper.server",
                              "dev.sessionkeeper.testkit",
                              "dev.sessionkeeper.servicebus.testserver..")))
                  // Without memory a logger may not reach its appender.
                  .and(DescribedPredicate.not(simpleName("EndOnOutOfMemory"))))
          .should()
          .accessField(System.class, "out")
          .orShould()
          .accessField(System.class, "err");

  private Rules() {}

  /** Makes each package of core a slice. */
  private static final class CorePackages implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return Arrays.asList(CORE).contains(type.getPackageName())
          ? SliceIdentifier.of(type.getPackageName())
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "packages of core";
    }
  }

  private static boolean isResult(JavaClass type) {
    return type.isRecord() && type.getPackageName().equals("dev.sessionkeeper.postgres");
  }

  private static ArchRule seesNoOther(String provider, String... others) {
    var packages = Arrays.stream(others).map(other -> "dev.sessionkeeper." + other + "..");
    return noClasses()
        .that(resideInAPackage("dev.sessionkeeper." + provider + ".."))
        .should()
        .dependOnClassesThat(resideInAnyPackage(packages.toArray(String[]::new)))
        .allowEmptyShould(true);
  }

  private static DescribedPredicate<JavaClass> aboutSecrets() {
    return DescribedPredicate.describe(
        "are about secrets",
        type -> type.getSimpleName().matches(".*(Signature|Secret|Hmac|Password|ApiKey).*"));
  }
}
