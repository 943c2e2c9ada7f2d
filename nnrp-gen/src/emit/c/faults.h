/**
 * What is wrong with some bytes, or with values that should become bytes, and where.
 *
 * Of several faults the first is reported, in this order: length, fields by offset, rules in the order of the
 * registry. Where nothing is wrong, a fault is left as it was.
 */
typedef struct proto_fault {
    int         kind;         /**< How it is wrong: a PROTO_FAULT_... */
    uint32_t    layout;       /**< What is at fault: a PROTO_LAYOUT_... */
    uint32_t    field;        /**< The field to blame: a PROTO_..._FIELD_...; 0 for all of it. */
    uint32_t    rule;         /**< The rule that does not hold: a PROTO_RULE_...; 0 where none is involved. */
    uint32_t    offset;       /**< Bytes from the start of what was decoded. */
    uint32_t    code;         /**< Error code of its own on the wire; 0 for the protocol's usual one. */
    bool        ends_stream;  /**< Whether the end of the packet is not known, so that nothing can follow it. */
    const char *reason;       /**< Why there is that rule; empty where no rule is broken. */
} proto_fault;

/** Marks what runs only for bytes that are not good, so that compilers keep it out of the way. */
#if defined(__GNUC__) || defined(__clang__)
#define PROTO_COLD static __attribute__((cold, noinline, unused))
#else
#define PROTO_COLD static inline
#endif

/* Fills in a fault, where there is one to fill in. */
PROTO_COLD int proto_blame_rule_(
    proto_fault *fault, int kind, uint32_t layout, uint32_t field, uint32_t rule, const char *reason, size_t offset,
    uint32_t code)
{
    if (fault != NULL) {
        fault->kind        = kind;
        fault->layout      = layout;
        fault->field       = field;
        fault->rule        = rule;
        fault->offset      = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
        fault->code        = code;
        fault->ends_stream = ${ends_stream};
        fault->reason      = reason;
    }
    return kind;
}

/* The same without a rule. */
PROTO_COLD int proto_blame_(
    proto_fault *fault, int kind, uint32_t layout, uint32_t field, size_t offset, uint32_t code)
{
    return proto_blame_rule_(fault, kind, layout, field, 0, "", offset, code);
}

/* The fault of `found` bytes, the first at `base`, where a layout has `size`. */
PROTO_COLD int proto_blame_length_(proto_fault *fault, uint32_t layout, size_t found, size_t size, size_t base)
{
    if (found < size) {
        return proto_blame_(fault, PROTO_FAULT_TOO_SHORT, layout, 0, base + found, 0);
    }
    return proto_blame_(fault, PROTO_FAULT_TOO_LONG, layout, 0, base + size, 0);
}
