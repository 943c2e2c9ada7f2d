/* Floats as their bits. */
static inline uint64_t bits_of_float(const float *number)
{
    uint32_t bits;

    memcpy(&bits, number, sizeof bits);
    return bits;
}

static inline uint64_t bits_of_double(const double *number)
{
    uint64_t bits;

    memcpy(&bits, number, sizeof bits);
    return bits;
}

static inline void float_of_bits(uint64_t value, float *number)
{
    const uint32_t bits = (uint32_t)value;

    memcpy(number, &bits, sizeof bits);
}

static inline void double_of_bits(uint64_t value, double *number)
{
    memcpy(number, &value, sizeof value);
}

