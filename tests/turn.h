/* Which cases of a sample a test program runs (tests/README.md, chapter "Samples"). */
#ifndef TESTS_TURN_H
#define TESTS_TURN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* TEST_TURN, which the Makefile sets to TURN; 0 without it. */
static inline uint64_t test_turn(void) {
    const char *turn = getenv("TEST_TURN");
    return turn ? strtoull(turn, NULL, 10) : 0;
}

/* Whether this turn runs the case with this number: successive turns run one in `count` after another. After `count`
   turns the order shifts by one, so that a program that runs in every fourth turn also runs all cases. */
static inline bool is_in_turn(uint64_t number, uint64_t count) {
    return (number + test_turn() + test_turn() / count) % count == 0;
}

/* The same for long lists: a pseudo-random one in `one_in` of all numbers, so that samples do
   not follow the order of types and forms. */
static inline bool in_sample(uint64_t number, uint64_t one_in) {
    uint64_t x = number * UINT64_C(0x9e3779b97f4a7c15) + test_turn() * UINT64_C(0xd1b54a32d192ed03);
    x = (x ^ x >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return (x ^ x >> 29) % one_in == 0;
}

#endif
