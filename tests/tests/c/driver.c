int main(void)
{
    struct request request;

    while (fread(&request, sizeof request, 1, stdin) == 1) {
        uint8_t *whole;
        uint8_t *payload = odd(request.length, &whole);

        check(fread(payload, 1, request.length, stdin) == request.length, "the payload");
        check(request.what == 5 || request.layout < sizeof cases / sizeof *cases, "the layout");
        if (request.what == 2) {
            fflush(stdout);
        } else if (request.what == 0) {
            cases[request.layout].decode(payload, request.length);
        } else if (request.what == 3 || request.what == 4) {
            uint32_t limit;

            check(request.length >= sizeof limit, "the limit");
            memcpy(&limit, payload, sizeof limit);
            PACKET(payload + sizeof limit, request.length - sizeof limit, limit, request.what == 4);
        } else if (request.what == 5) {
            uint32_t room;

            memcpy(&room, payload, sizeof room);
            next_value = payload + sizeof room;
            WRITE(request.layout, room);
        } else {
            /* The room to encode into, then the values. */
            uint32_t room;
            uint8_t *bytes_whole;
            uint8_t *bytes;

            memcpy(&room, payload, sizeof room);
            next_value = payload + sizeof room;
            bytes      = odd(room, &bytes_whole);
            cases[request.layout].encode(bytes, room);
            free(bytes_whole);
        }
        free(whole);
    }
    return 0;
}
