/* What a packet is, and what a stream that starts with it still misses. */
static void decode_packet(const uint8_t *bytes, size_t length, size_t limit, bool more)
{
    struct N(packet)        packet;
    N(fault)                fault   = NO_FAULT;
    N(fault)                of_head = NO_FAULT;
    size_t                  missing;
    size_t                  whole;
    int                     kind;

    (void)more;
    kind = PARSE(bytes, length, more, &packet, &fault);
    check(PARSE(bytes, length, more, &packet, NULL) == kind, "packets parse otherwise without a fault");
    verdict(kind, &fault);
    number(fault.ends_stream);
    number(ERROR_CODE(&fault));
    if (kind == 0) {
        piece(bytes, packet.header);
        piece(bytes, packet.metadata);
        walk(&packet);
        number(0);
        rewrite(&packet, more);
    } else {
        check(packet.header.data == NULL && packet.body.size == 0, "a refused packet is left");
    }
    kind = N(packet_missing)(bytes, length, limit, &missing, &whole, &of_head);
    check(N(packet_missing)(bytes, length, limit, &missing, &whole, NULL) == kind, "streams end otherwise without a fault");
    verdict(kind, &of_head);
    number((uint32_t)missing);
    number((uint32_t)whole);
}
