/* A text that grows into a buffer and is counted beyond its end. */
struct proto_text_ {
    char  *to;
    size_t room;
    size_t length;
};

static inline void proto_say_(struct proto_text_ *text, const char *part, size_t length)
{
    if (text->length < text->room) {
        const size_t room = text->room - text->length;

        memcpy(text->to + text->length, part, length < room ? length : room);
    }
    text->length += length;
}

static inline void proto_say_all_(struct proto_text_ *text, const char *part)
{
    proto_say_(text, part, strlen(part));
}

/**
 * Writes the fault as a sentence, the same one in every language.
 *
 * Writes at most `len` bytes with the final NUL, and gives the length of the whole sentence without it, as snprintf
 * does: the sentence was cut where that is not less than `len`. `buf` may be NULL where `len` is 0.
 */
PROTO_COLD size_t proto_fault_text(const proto_fault *fault, char *buf, size_t len)
{
    struct proto_text_ text;
    char               digits[10];
    size_t             first  = sizeof digits;
    uint32_t           offset = fault->offset;
    size_t             last   = strlen(fault->reason);

    text.to     = buf;
    text.room   = len > 0 ? len - 1 : 0;
    text.length = 0;
    do {
        digits[--first] = (char)('0' + offset % 10);
        offset /= 10;
    } while (offset != 0);
    while (last > 0 && fault->reason[last - 1] == '.') {
        last--;
    }

    proto_say_all_(&text, "byte ");
    proto_say_(&text, digits + first, sizeof digits - first);
    proto_say_all_(&text, ": `");
    proto_say_all_(&text, proto_layout_name(fault->layout));
    if (fault->field != 0) {
        proto_say_all_(&text, ".");
        proto_say_all_(&text, proto_field_name(fault->layout, fault->field));
    }
    proto_say_all_(&text, "` ");
    if (fault->rule == 0) {
        proto_say_all_(&text, proto_fault_says_(fault->kind));
    } else if (fault->kind == PROTO_FAULT_RULE) {
        proto_say_all_(&text, "breaks rule ");
        proto_say_all_(&text, proto_rule_id(fault->rule));
        if (last > 0) {
            proto_say_all_(&text, ": ");
            proto_say_(&text, fault->reason, last);
        }
    } else {
        proto_say_all_(&text, proto_fault_says_(fault->kind));
        proto_say_all_(&text, " (rule ");
        proto_say_all_(&text, proto_rule_id(fault->rule));
        proto_say_all_(&text, ")");
    }
    if (len > 0) {
        buf[text.length < len ? text.length : len - 1] = '\0';
    }
    return text.length;
}
