/* Bytes of pieces behind `size` others; SIZE_MAX for more than there can be. */
static inline size_t proto_total_(size_t size, const proto_bytes *pieces, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        size = pieces[at].size < SIZE_MAX - size ? size + pieces[at].size : SIZE_MAX;
    }
    return size;
}

/* Writes pieces one behind the other. */
static inline void proto_put_(uint8_t *out, const proto_bytes *pieces, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (pieces[at].size > 0) {
            memcpy(out, pieces[at].data, pieces[at].size);
            out += pieces[at].size;
        }
    }
}

/* Whether so many bytes have room; blames what they are of where they have none. */
static inline bool proto_room_(size_t length, size_t size, uint32_t layout, proto_fault *fault)
{
    if (length <= size && length < SIZE_MAX) {
        return true;
    }
    proto_blame_(fault, PROTO_FAULT_TOO_SHORT, layout, 0, size, 0);
    return false;
}
