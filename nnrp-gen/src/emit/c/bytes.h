static inline uint16_t proto_swap_u16_(uint16_t value)
{
    return (uint16_t)((uint32_t)value << 8 | (uint32_t)value >> 8);
}

static inline uint32_t proto_swap_u32_(uint32_t value)
{
    return value << 24 | (value & 0xff00u) << 8 | (value >> 8 & 0xff00u) | value >> 24;
}

static inline uint64_t proto_swap_u64_(uint64_t value)
{
    return (uint64_t)proto_swap_u32_((uint32_t)value) << 32 | proto_swap_u32_((uint32_t)(value >> 32));
}

static inline uint16_t proto_load_u16le_(const uint8_t *at)
{
#ifdef PROTO_COPIES_
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return value;
#else
    return (uint16_t)((uint32_t)at[0] | (uint32_t)at[1] << 8);
#endif
}

static inline uint32_t proto_load_u32le_(const uint8_t *at)
{
#ifdef PROTO_COPIES_
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
#else
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
#endif
}

static inline uint64_t proto_load_u64le_(const uint8_t *at)
{
#ifdef PROTO_COPIES_
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
#else
    return (uint64_t)proto_load_u32le_(at) | (uint64_t)proto_load_u32le_(at + 4) << 32;
#endif
}

static inline void proto_store_u16le_(uint8_t *at, uint16_t value)
{
#ifdef PROTO_COPIES_
    memcpy(at, &value, sizeof value);
#else
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
#endif
}

static inline void proto_store_u32le_(uint8_t *at, uint32_t value)
{
#ifdef PROTO_COPIES_
    memcpy(at, &value, sizeof value);
#else
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
#endif
}

static inline void proto_store_u64le_(uint8_t *at, uint64_t value)
{
#ifdef PROTO_COPIES_
    memcpy(at, &value, sizeof value);
#else
    proto_store_u32le_(at, (uint32_t)value);
    proto_store_u32le_(at + 4, (uint32_t)(value >> 32));
#endif
}

static inline uint16_t proto_load_u16be_(const uint8_t *at)
{
    return proto_swap_u16_(proto_load_u16le_(at));
}

static inline uint32_t proto_load_u32be_(const uint8_t *at)
{
    return proto_swap_u32_(proto_load_u32le_(at));
}

static inline uint64_t proto_load_u64be_(const uint8_t *at)
{
    return proto_swap_u64_(proto_load_u64le_(at));
}

static inline void proto_store_u16be_(uint8_t *at, uint16_t value)
{
    proto_store_u16le_(at, proto_swap_u16_(value));
}

static inline void proto_store_u32be_(uint8_t *at, uint32_t value)
{
    proto_store_u32le_(at, proto_swap_u32_(value));
}

static inline void proto_store_u64be_(uint8_t *at, uint64_t value)
{
    proto_store_u64le_(at, proto_swap_u64_(value));
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

/* A number as a field holds it; one that does not fit becomes the largest, which a reader refuses. */
static inline uint8_t proto_fit_u8_(uint64_t number)
{
    return number < UINT8_MAX ? (uint8_t)number : UINT8_MAX;
}

/* A number as a field holds it; one that does not fit becomes the largest, which a reader refuses. */
static inline uint16_t proto_fit_u16_(uint64_t number)
{
    return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

/* A number as a field holds it; one that does not fit becomes the largest, which a reader refuses. */
static inline uint32_t proto_fit_u32_(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}
