/* Functions of the header as symbols of a library, for languages that call C and do not include it. */
#define SHIM(x)                                                                                                     \
    int decode_##x(const uint8_t *bytes, size_t len, struct nnrp_##x *out, nnrp_fault *fault);                      \
    int encode_##x(const struct nnrp_##x *in, uint8_t *bytes, size_t len, nnrp_fault *fault);                       \
                                                                                                                    \
    int decode_##x(const uint8_t *bytes, size_t len, struct nnrp_##x *out, nnrp_fault *fault)                       \
    {                                                                                                               \
        return nnrp_##x##_decode(bytes, len, out, fault);                                                           \
    }                                                                                                               \
                                                                                                                    \
    int encode_##x(const struct nnrp_##x *in, uint8_t *bytes, size_t len, nnrp_fault *fault)                        \
    {                                                                                                               \
        return nnrp_##x##_encode(in, bytes, len, fault);                                                            \
    }
