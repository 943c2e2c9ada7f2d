/** Bytes that somebody else keeps. */
typedef struct proto_bytes {
    const uint8_t *data;  /**< The first of them. */
    size_t         size;  /**< How many. */
} proto_bytes;

/* The first `size` bytes of `rest`, or all where there are fewer; `rest` goes on behind them. */
static inline proto_bytes proto_front_(proto_bytes *rest, uint64_t size)
{
    proto_bytes front = *rest;

    if (size < front.size) {
        front.size = (size_t)size;
    }
    if (front.size > 0) {
        rest->data += front.size;
        rest->size -= front.size;
    }
    return front;
}

/* Where `at` is in a packet that begins at `start`. */
static inline size_t proto_offset_(const uint8_t *start, const uint8_t *at)
{
    return (size_t)(at - start);
}

/** The next `size` bytes of rows that stand one behind the other; false where no whole row is left. */
static inline bool proto_next_row(proto_bytes *rest, size_t size, proto_bytes *row)
{
    if (rest->size < size) {
        return false;
    }
    *row = proto_front_(rest, size);
    return true;
}

/* Zero bytes behind `size` others, up to a boundary. */
static inline size_t proto_padding_(size_t size, size_t align)
{
    return (align - size % align) % align;
}

/* The first byte that is not zero; the size where all are. */
static inline size_t proto_zeros_(proto_bytes bytes)
{
    size_t at = 0;

    while (at < bytes.size && bytes.data[at] == 0) {
        at++;
    }
    return at;
}

/* What a fault blames is the message's fault even where the field is the header's: the stream can go on. */
static inline int proto_of_message_(proto_fault *fault, int kind)
{
    if (fault != NULL) {
        fault->ends_stream = false;
    }
    return kind;
}

/* Compares two words byte by byte. */
static inline int proto_compare_words_(proto_bytes left, proto_bytes right)
{
    const size_t size  = left.size < right.size ? left.size : right.size;
    const int    order = size > 0 ? memcmp(left.data, right.data, size) : 0;

    if (order != 0 || left.size == right.size) {
        return order;
    }
    return left.size < right.size ? -1 : 1;
}

/* Sets the bit of a value; whether it was clear. */
static inline bool proto_mark_(uint8_t *bits, uint64_t value)
{
    const uint8_t bit   = (uint8_t)(1u << (value % 8));
    uint8_t      *place = &bits[value / 8 % 8192];
    const bool    fresh = (*place & bit) == 0;

    *place = (uint8_t)(*place | bit);
    return fresh;
}
