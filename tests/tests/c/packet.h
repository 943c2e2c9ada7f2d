/* Where a piece of a packet is: its first byte and its size. */
static inline void piece(const uint8_t *start, N(bytes) bytes)
{
    number(1);
    number(bytes.size > 0 ? (uint32_t)(bytes.data - start) : 0);
    number((uint32_t)bytes.size);
}

static inline bool knows(void *context, N(bytes) word)
{
    check(context == &next_value, "the context of the words");
    return word.size > 2 && memcmp(word.data, "x.", 2) == 0;
}
