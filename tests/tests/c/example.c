#include "nnrp.h"
#include <stdio.h>

/* Reads a packet, and says what a session wants or what is wrong. */
int read_packet(const uint8_t *bytes, size_t size)
{
    struct nnrp_packet       packet;
    struct nnrp_session_open open;
    nnrp_fault               fault;
    char                     text[200];

    if (nnrp_packet_parse(bytes, size, &packet, &fault) != 0) {
        nnrp_fault_text(&fault, text, sizeof text);
        printf("refused: %s\n", text);
        return 1;
    }
    if (packet.message == NNRP_MESSAGE_SESSION_OPEN) {
        nnrp_session_open_decode(packet.metadata.data, packet.metadata.size, &open, NULL);
        printf("a %s session for schema %lu\n", nnrp_session_priority_class_name(open.priority_class),
               (unsigned long)open.schema_id);
    }
    return 0;
}
