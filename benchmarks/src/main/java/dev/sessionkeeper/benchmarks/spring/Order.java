package dev.sessionkeeper.benchmarks.spring;

/** The body of a message. */
record Order(String customer, int number, String item) {}
