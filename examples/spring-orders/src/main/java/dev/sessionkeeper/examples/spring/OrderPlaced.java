package dev.sessionkeeper.examples.spring;

/**
 * A customer ordered something.
 *
 * @param number counts the orders of one customer
 */
public record OrderPlaced(String customer, int number, String item) {}
