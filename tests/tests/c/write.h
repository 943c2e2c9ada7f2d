/* The next piece of a request. */
static inline N(bytes) taken(void)
{
    N(bytes) piece;
    uint32_t size;

    memcpy(&size, next_value, sizeof size);
    piece.data = next_value + sizeof size;
    piece.size = size;
    next_value = piece.data + size;
    return piece;
}

/* A room of UINT32_MAX is a little more than the packet needs, to see that the rest is left alone. */
static inline size_t room_for(size_t wanted, uint32_t room)
{
    return room == UINT32_MAX ? wanted + 3 : room;
}

/* What came of writing into bytes that were all 0xa5. */
static inline void written(const uint8_t *out, size_t length, size_t wanted, size_t room, const N(fault) *fault)
{
    const size_t  front = room < wanted ? room : wanted;
    const uint8_t left  = front > 0 && out[0] == 0 ? 0 : 0xa5;

    verdict(length == 0 ? fault->kind : 0, fault);
    number((uint32_t)wanted);
    if (length == 0) {
        check(fault->kind != 0, "a refusal without a fault");
        check(left == 0xa5 || room >= wanted, "bytes without room are written");
        for (size_t at = 0; at < front; at++) {
            check(out[at] == left, "something is left of a refused packet");
        }
    } else {
        check(length == wanted && length <= room, "the size of a packet");
        fwrite(out, 1, length, stdout);
    }
    for (size_t at = front; at < room; at++) {
        check(out[at] == 0xa5, "bytes behind the packet are written");
    }
}
