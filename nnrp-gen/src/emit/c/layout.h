static inline bool ${x}_holds_(const uint8_t *bytes)
{
    ${holds}
}

${COLD} int ${x}_find_(const uint8_t *bytes, size_t base, ${fault} *fault)
{
    ${find}
    return ${blame}(fault, ${RULE}, ${LAYOUT}, 0, base, 0);
}

static inline bool ${x}_good_(const struct ${x} *in)
{
    ${good}
}

static inline void ${x}_unpack_(const uint8_t *bytes, struct ${x} *out)
{
    ${unpack}
}

static inline void ${x}_pack_(const struct ${x} *in, uint8_t *bytes)
{
    ${pack}
}

${COLD} int ${x}_refuse_(const struct ${x} *in, ${fault} *fault)
{
    uint8_t bytes[${X}_SIZE];

    ${x}_pack_(in, bytes);
    return ${x}_find_(bytes, 0, fault);
}

${check_at}
{
    if (len != ${X}_SIZE) {
        return ${length}(fault, ${LAYOUT}, len, ${X}_SIZE, base);
    }
    return ${x}_holds_(bytes) ? 0 : ${x}_find_(bytes, base, fault);
}

/**
 * Checks the bytes of a `${name}` where they are. Getters may read what was checked.
 *
 * @return 0 where they are good, else the kind of fault.
 */
${check}
{
    return ${x}_check_at_(bytes, len, 0, fault);
}

/**
 * Reads the ${X}_SIZE bytes of a `${name}`.
 *
 * @return 0 where they are good, else the kind of fault; `out` is then all zero.
 */
${decode}
{
    const int kind = ${x}_check(bytes, len, fault);

    if (kind != 0) {
        memset(out, 0, sizeof *out);
        return kind;
    }
    ${x}_unpack_(bytes, out);
    return 0;
}

/**
 * Checks values as ${x}_decode would check their bytes.
 *
 * @return 0 where they are good, else the kind of fault.
 */
${validate}
{
    return ${x}_good_(in) ? 0 : ${x}_refuse_(in, fault);
}

/**
 * Writes the ${X}_SIZE bytes of a `${name}`, or none of them.
 *
 * @param len  exactly ${X}_SIZE, however much room there is behind
 * @return 0 where the values are good and the length is right, else the kind of fault.
 */
${encode}
{
    if (len != ${X}_SIZE) {
        return ${length}(fault, ${LAYOUT}, len, ${X}_SIZE, 0);
    }
    if (!${x}_good_(in)) {
        return ${x}_refuse_(in, fault);
    }
    ${x}_pack_(in, bytes);
    return 0;
}

/** Makes ${X}_SIZE bytes zero but for the constants, to be filled by setters and then checked. */
static inline void ${x}_blank(uint8_t *bytes)
{
    ${blank}
}
