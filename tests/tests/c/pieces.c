/* Writes entries, words and a body that stands by itself, and tries sizes that nothing has. */
#include "nnrp.h"
#include <stdio.h>
#include <stdlib.h>

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void hex(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        printf("%02x", bytes[at]);
    }
    printf("\n");
}

static nnrp_bytes text(const char *words)
{
    const nnrp_bytes bytes = { (const uint8_t *)words, strlen(words) };

    return bytes;
}

static void say(const nnrp_fault *fault)
{
    char sentence[200];

    nnrp_fault_text(fault, sentence, sizeof sentence);
    printf("%s\n", sentence);
}

/* Extensions of 3 and of 8 bytes, one behind the other, and one that is refused. */
static void entries(void)
{
    uint8_t out[48];
    struct nnrp_control_extension_header header;
    nnrp_fault fault;
    size_t size;

    memset(&header, 0, sizeof header);
    header.ext_type = 0x8000;
    header.ext_len  = 77;
    size = nnrp_control_extension_write(&header, text("abc"), out, sizeof out, &fault);
    header.ext_type = 0x8001;
    size += nnrp_control_extension_write(&header, text("12345678"), out + size, sizeof out - size, &fault);
    hex(out, size);

    memset(out, 0xa5, sizeof out);
    check(nnrp_control_extension_write(&header, text("abc"), out, 15, &fault) == 0, "no room for padding");
    say(&fault);
    check(out[0] == 0xa5, "nothing is written without room");
    header.ext_flags = 0x4000;
    check(nnrp_control_extension_write(&header, text("abc"), out, sizeof out, &fault) == 0, "an unknown flag");
    say(&fault);
    check(out[0] == 0 && out[15] == 0 && out[16] == 0xa5, "nothing is left of it");
}

static void words(void)
{
    uint8_t out[64];
    nnrp_bytes word = text("object.cost");
    nnrp_fault fault;
    size_t size = nnrp_capability_tokens_write(word, out, sizeof out, &fault);

    size += nnrp_capability_tokens_write(text("object.delta"), out + size, sizeof out - size, &fault);
    hex(out, size);
    check(nnrp_capability_tokens_write(word, out, 12, &fault) == 0, "no room for a word");
    say(&fault);
    word.size = 0;
    check(nnrp_capability_tokens_write(word, out, sizeof out, &fault) == 0, "a word of nothing");
    say(&fault);
    word.size = 65536;
    check(nnrp_capability_tokens_write(word, out, sizeof out, &fault) == 0, "a word too long");
    say(&fault);
}

/* A schema without dependencies, its prelude given and left out. */
static void body(void)
{
    uint8_t out[200];
    uint8_t prelude[NNRP_SCHEMA_DESCRIPTOR_HEADER_SIZE];
    struct nnrp_schema_descriptor parts;
    nnrp_fault fault;
    size_t size;

    memset(&parts, 0, sizeof parts);
    parts.body = text("what it says");
    nnrp_schema_descriptor_header_blank(prelude);
    nnrp_schema_descriptor_header_set_schema_id(prelude, 7);
    nnrp_schema_descriptor_header_set_schema_version(prelude, 2);
    parts.prelude.data = prelude;
    parts.prelude.size = sizeof prelude;
    size = nnrp_schema_descriptor_write(&parts, out, sizeof out, &fault);
    check(size == nnrp_schema_descriptor_size(&parts), "the size of a schema");
    hex(out, size);
    check(nnrp_schema_descriptor_write(&parts, out, size - 1, &fault) == 0, "no room for a schema");
    say(&fault);
    parts.prelude.size = 0;
    check(nnrp_schema_descriptor_write(&parts, out, sizeof out, &fault) == 0, "a schema of id 0");
    say(&fault);
    check(out[0] == 0 && out[size - 1] == 0, "nothing is left of it");
    parts.prelude.size = 3;
    check(nnrp_schema_descriptor_write(&parts, out, sizeof out, &fault) == 0, "half a prelude");
    say(&fault);
}

/* Sizes that add up to more than there is are refused before anything is read. */
static void huge(void)
{
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 88, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX / 3 * 2 };
    static volatile size_t everything = SIZE_MAX;
    uint8_t out[200];
    struct nnrp_common_header header;
    struct nnrp_session_open open;
    struct nnrp_session_open_body segments;
    struct nnrp_frame_submit submit;
    struct nnrp_regions parts;
    struct nnrp_control_extension_header extension;
    struct nnrp_schema_descriptor schema;
    struct nnrp_capability offer;
    struct nnrp_capability_negotiation_body capabilities;

    memset(&header, 0, sizeof header);
    memset(&open, 0, sizeof open);
    memset(&submit, 0, sizeof submit);
    memset(&extension, 0, sizeof extension);
    for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
        nnrp_bytes piece = text("");
        nnrp_fault fault;

        piece.size = sizes[at];
        memset(&segments, 0, sizeof segments);
        segments.resume_token = piece;
        segments.auth         = piece;
        check(nnrp_session_open_packet_size(&segments) == SIZE_MAX, "the size of a huge packet");
        check(nnrp_session_open_packet_write(&header, &open, &segments, out, sizeof out, &fault) == 0, "a huge packet");
        check(fault.kind == NNRP_FAULT_TOO_SHORT && fault.offset == sizeof out, "a huge packet has no room");
        check(nnrp_session_open_packet_write(&header, &open, &segments, out, everything, &fault) == 0, "all the room there is");

        memset(&parts, 0, sizeof parts);
        parts.inline_objects     = piece;
        parts.extension_payloads = piece;
        check(nnrp_regions_size(&parts) == SIZE_MAX, "the size of huge regions");
        check(nnrp_frame_submit_packet_size(&parts) == SIZE_MAX, "the size of a huge packet of regions");
        check(nnrp_frame_submit_packet_write(&header, &submit, &parts, out, sizeof out, &fault) == 0, "huge regions");
        check(fault.kind == NNRP_FAULT_TOO_SHORT && fault.layout == NNRP_LAYOUT_FRAME_SUBMIT, "huge regions have no room");

        memset(&offer, 0, sizeof offer);
        memset(&capabilities, 0, sizeof capabilities);
        capabilities.capability_entries = piece;
        check(nnrp_capability_negotiation_packet_write(&header, &offer, &capabilities, out, sizeof out, &fault) == 0, "huge words");
        check(fault.kind == NNRP_FAULT_TOO_SHORT, "huge words have no room");

        check(nnrp_control_extension_write(&extension, piece, out, sizeof out, &fault) == 0, "a huge extension");
        check(fault.kind == NNRP_FAULT_TOO_SHORT, "a huge extension has no room");
        check(nnrp_capability_tokens_write(piece, out, sizeof out, &fault) == 0, "a huge word");
        check(fault.kind == NNRP_FAULT_LENGTH, "a huge word has no length");

        memset(&schema, 0, sizeof schema);
        schema.body = piece;
        check(nnrp_schema_descriptor_write(&schema, out, sizeof out, &fault) == 0, "a huge schema");
        check(fault.kind == NNRP_FAULT_TOO_SHORT, "a huge schema has no room");
    }
}

int main(void)
{
    entries();
    words();
    body();
    huge();
    return 0;
}
