package dev.sessionkeeper.spring;

import org.springframework.boot.SpringApplication;

/** Breaks the rule that the module for Spring Framework does not use Spring Boot. */
public final class PlantedBooter {
  void start() {
    SpringApplication.run(PlantedBooter.class);
  }
}
