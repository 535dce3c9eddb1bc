package dev.sessionkeeper.examples.spring;

/**
 * An order of a customer.
 *
 * @param number counts the orders of one customer
 */
public record OrderPlaced(String customer, int number, String item) {}
