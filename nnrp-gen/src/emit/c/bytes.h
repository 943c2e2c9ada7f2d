static inline uint16_t proto_load_u16le_(const uint8_t *at)
{
    return (uint16_t)((uint32_t)at[0] | (uint32_t)at[1] << 8);
}

static inline uint32_t proto_load_u32le_(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t proto_load_u64le_(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24
        | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

static inline uint16_t proto_load_u16be_(const uint8_t *at)
{
    return (uint16_t)((uint32_t)at[0] << 8 | (uint32_t)at[1]);
}

static inline uint32_t proto_load_u32be_(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

static inline uint64_t proto_load_u64be_(const uint8_t *at)
{
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 | (uint64_t)at[3] << 32
        | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 | (uint64_t)at[6] << 8 | (uint64_t)at[7];
}

static inline void proto_store_u16le_(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void proto_store_u32le_(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

static inline void proto_store_u64le_(uint8_t *at, uint64_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
    at[4] = (uint8_t)(value >> 32);
    at[5] = (uint8_t)(value >> 40);
    at[6] = (uint8_t)(value >> 48);
    at[7] = (uint8_t)(value >> 56);
}

static inline void proto_store_u16be_(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void proto_store_u32be_(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

static inline void proto_store_u64be_(uint8_t *at, uint64_t value)
{
    at[0] = (uint8_t)(value >> 56);
    at[1] = (uint8_t)(value >> 48);
    at[2] = (uint8_t)(value >> 40);
    at[3] = (uint8_t)(value >> 32);
    at[4] = (uint8_t)(value >> 24);
    at[5] = (uint8_t)(value >> 16);
    at[6] = (uint8_t)(value >> 8);
    at[7] = (uint8_t)value;
}

/* Floats go through memory, not through a return value: some machines change a NaN that they return. */
static inline void proto_load_f32le_(const uint8_t *at, float *value)
{
    const uint32_t bits = proto_load_u32le_(at);

    memcpy(value, &bits, sizeof bits);
}

static inline void proto_load_f32be_(const uint8_t *at, float *value)
{
    const uint32_t bits = proto_load_u32be_(at);

    memcpy(value, &bits, sizeof bits);
}

static inline void proto_load_f64le_(const uint8_t *at, double *value)
{
    const uint64_t bits = proto_load_u64le_(at);

    memcpy(value, &bits, sizeof bits);
}

static inline void proto_load_f64be_(const uint8_t *at, double *value)
{
    const uint64_t bits = proto_load_u64be_(at);

    memcpy(value, &bits, sizeof bits);
}

static inline void proto_store_f32le_(uint8_t *at, const float *value)
{
    uint32_t bits;

    memcpy(&bits, value, sizeof bits);
    proto_store_u32le_(at, bits);
}

static inline void proto_store_f32be_(uint8_t *at, const float *value)
{
    uint32_t bits;

    memcpy(&bits, value, sizeof bits);
    proto_store_u32be_(at, bits);
}

static inline void proto_store_f64le_(uint8_t *at, const double *value)
{
    uint64_t bits;

    memcpy(&bits, value, sizeof bits);
    proto_store_u64le_(at, bits);
}

static inline void proto_store_f64be_(uint8_t *at, const double *value)
{
    uint64_t bits;

    memcpy(&bits, value, sizeof bits);
    proto_store_u64be_(at, bits);
}

/* Whether one of the bytes is not zero. */
static inline bool proto_any_(const uint8_t *at, size_t count)
{
    for (size_t index = 0; index < count; index++) {
        if (at[index] != 0) {
            return true;
        }
    }
    return false;
}

/* Three-way comparison of numbers that no one integer type holds. */
static inline int proto_compare_(int64_t left, uint64_t right)
{
    if (left < 0 || (uint64_t)left < right) {
        return -1;
    }
    return (uint64_t)left > right ? 1 : 0;
}
