/* The C side of the comparison: reads requests from stdin, answers on stdout. Behind the header of a registry, with
   N(x) and U(x) for its names. */
#include <stdio.h>
#include <stdlib.h>

/* One request: what to do, with which layout, and the payload. */
struct request {
    uint32_t what;
    uint32_t layout;
    uint32_t length;
};

static const uint8_t *next_value;

#define NO_FAULT { 0, 0, 0, 0, 0, 0, false, "" }

static inline uint64_t take(void)
{
    uint64_t value;

    memcpy(&value, next_value, 8);
    next_value += 8;
    return value;
}

static inline void number(uint32_t value)
{
    fwrite(&value, 1, sizeof value, stdout);
}

static inline void value(uint64_t value)
{
    fwrite(&value, 1, sizeof value, stdout);
}

static inline void text(const char *words)
{
    const uint32_t length = (uint32_t)strlen(words);

    number(length);
    fwrite(words, 1, length, stdout);
}

static inline void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* The verdict: kind, and what the fault says in words. */
static inline void verdict(int kind, const N(fault) *fault)
{
    char   sentence[1024];
    char   cut[16];
    size_t length;

    if (kind == 0) {
        text("");
        return;
    }
    check(kind == fault->kind, "the result is not the kind of the fault");
    length = N(fault_text)(fault, sentence, sizeof sentence);
    check(length == strlen(sentence), "the length of the sentence");
    check(N(fault_text)(fault, NULL, 0) == length, "the length of a sentence without a buffer");
    check(N(fault_text)(fault, cut, sizeof cut) == length, "the length of a cut sentence");
    check(strlen(cut) == sizeof cut - 1 && memcmp(cut, sentence, sizeof cut - 1) == 0, "the cut sentence");
    text(N(fault_kind_name)(kind));
    text(N(layout_name)(fault->layout));
    text(N(field_name)(fault->layout, fault->field));
    text(N(rule_id)(fault->rule));
    number(fault->offset);
    number(fault->code);
    text(sentence);
}

/* Bytes in memory that ends with them and starts at an odd address. */
static inline uint8_t *odd(size_t length, uint8_t **whole)
{
    *whole = (uint8_t *)malloc(length + 1);
    check(*whole != NULL, "memory");
    return *whole + 1;
}
