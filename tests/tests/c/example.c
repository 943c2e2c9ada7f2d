#include "nnrp.h"
#include <stdio.h>

/* Says what a packet wants of a session. */
static void read_packet(const uint8_t *bytes, size_t size)
{
    struct nnrp_packet            packet;
    struct nnrp_session_open      open;
    struct nnrp_session_open_body body;

    if (nnrp_packet_parse(bytes, size, &packet, NULL) == 0 && packet.message == NNRP_MESSAGE_SESSION_OPEN) {
        nnrp_session_open_decode(packet.metadata.data, packet.metadata.size, &open, NULL);
        nnrp_session_open_body_split(&packet, &body);
        printf("%.*s opens a session: %s, schema %lu\n", (int)body.auth.size, (const char *)body.auth.data,
               nnrp_session_priority_class_name(open.priority_class), (unsigned long)open.schema_id);
    }
}

int main(void)
{
    struct nnrp_common_header     header = { 0 };
    struct nnrp_session_open      open   = { .schema_id = 0x1001, .schema_version = 3 };
    struct nnrp_session_open_body body   = { .auth = { (const uint8_t *)"Ada", 3 } };
    nnrp_fault                    fault  = { 0 };
    uint8_t                       packet[200];
    size_t                        size;
    char                          text[200];

    size = nnrp_session_open_packet_write(&header, &open, &body, packet, sizeof packet, &fault);
    printf("%lu bytes\n", (unsigned long)size);
    read_packet(packet, size);

    open.schema_id = 0;
    size = nnrp_session_open_packet_write(&header, &open, &body, packet, sizeof packet, &fault);
    nnrp_fault_text(&fault, text, sizeof text);
    printf("%lu bytes: %s\n", (unsigned long)size, text);
    return 0;
}
