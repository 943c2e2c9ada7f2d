static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The compiler must take it that somebody looks at what is there. */
#define LOOK(at) __asm__ volatile("" : : "r"(at) : "memory")

/* Measures one layout as the Rust side does: the best of some measurements. */
#define BENCH(x, size)                                                                                              \
    static void bench_##x(void)                                                                                     \
    {                                                                                                               \
        static struct nnrp_##x values[INPUTS];                                                                      \
        double                 best[2] = { 1e9, 1e9 };                                                              \
                                                                                                                    \
        for (int time = 0; time < TIMES; time++) {                                                                  \
            double start = seconds();                                                                               \
            double taken;                                                                                           \
                                                                                                                    \
            for (int round = 0; round < ROUNDS; round++) {                                                          \
                for (int at = 0; at < INPUTS; at++) {                                                               \
                    const uint8_t  *bytes  = x[at];                                                                 \
                    size_t          length = size;                                                                  \
                    struct nnrp_##x out;                                                                            \
                    int             kind;                                                                           \
                                                                                                                    \
                    __asm__ volatile("" : "+r"(bytes), "+r"(length));                                               \
                    kind = nnrp_##x##_decode(bytes, length, &out, NULL);                                            \
                    LOOK(&out);                                                                                     \
                    LOOK(kind);                                                                                     \
                }                                                                                                   \
            }                                                                                                       \
            taken   = seconds() - start;                                                                            \
            best[0] = taken < best[0] ? taken : best[0];                                                            \
        }                                                                                                           \
        for (int at = 0; at < INPUTS; at++) {                                                                       \
            nnrp_##x##_decode(x[at], size, &values[at], NULL);                                                      \
        }                                                                                                           \
        for (int time = 0; time < TIMES; time++) {                                                                  \
            double  start = seconds();                                                                              \
            double  taken;                                                                                          \
            uint8_t bytes[size];                                                                                    \
                                                                                                                    \
            for (int round = 0; round < ROUNDS; round++) {                                                          \
                for (int at = 0; at < INPUTS; at++) {                                                               \
                    const struct nnrp_##x *in = &values[at];                                                        \
                    int                    kind;                                                                    \
                                                                                                                    \
                    __asm__ volatile("" : "+r"(in));                                                                \
                    kind = nnrp_##x##_encode(in, bytes, sizeof bytes, NULL);                                        \
                    LOOK(bytes);                                                                                    \
                    LOOK(kind);                                                                                     \
                }                                                                                                   \
            }                                                                                                       \
            taken   = seconds() - start;                                                                            \
            best[1] = taken < best[1] ? taken : best[1];                                                            \
        }                                                                                                           \
        printf("%s %.4f %.4f\n", #x, best[0] * 1e9 / ((double)ROUNDS * INPUTS),                                     \
               best[1] * 1e9 / ((double)ROUNDS * INPUTS));                                                          \
    }

/* The same for reading and writing a whole packet. */
#define BENCH_PACKET(x, given)                                                                                      \
    static void bench_packet_##x(void)                                                                              \
    {                                                                                                               \
        struct nnrp_packet        packet;                                                                           \
        struct nnrp_common_header header;                                                                           \
        struct nnrp_##x           metadata;                                                                         \
        struct nnrp_##x##_body    body;                                                                             \
        struct nnrp_regions       parts;                                                                            \
        double                    best[2] = { 1e9, 1e9 };                                                           \
        uint8_t                   out[4096];                                                                        \
                                                                                                                    \
        nnrp_packet_parse(packet_##x, sizeof packet_##x, &packet, NULL);                                            \
        nnrp_common_header_decode(packet.header.data, packet.header.size, &header, NULL);                           \
        nnrp_##x##_decode(packet.metadata.data, packet.metadata.size, &metadata, NULL);                             \
        nnrp_##x##_body_split(&packet, &body);                                                                      \
        nnrp_regions_split(packet.body, &parts);                                                                    \
        for (int time = 0; time < 2 * TIMES; time++) {                                                              \
            double *of    = &best[time % 2];                                                                        \
            double  start = seconds();                                                                              \
            double  taken;                                                                                          \
                                                                                                                    \
            for (int round = 0; round < ROUNDS * INPUTS / 8; round++) {                                             \
                const uint8_t *bytes  = packet_##x;                                                                 \
                size_t         length = sizeof packet_##x;                                                          \
                                                                                                                    \
                __asm__ volatile("" : "+r"(bytes), "+r"(length));                                                   \
                if (time % 2 == 0) {                                                                                \
                    nnrp_packet_parse(bytes, length, &packet, NULL);                                                \
                    LOOK(&packet);                                                                                  \
                } else {                                                                                            \
                    LOOK(nnrp_##x##_packet_write(&header, &metadata, &given, out, sizeof out, NULL));               \
                    LOOK(out);                                                                                      \
                }                                                                                                   \
            }                                                                                                       \
            taken = seconds() - start;                                                                              \
            *of   = taken < *of ? taken : *of;                                                                      \
        }                                                                                                           \
        printf("packet:%s %.4f %.4f\n", #x, best[0] * 8e9 / ((double)ROUNDS * INPUTS),                              \
               best[1] * 8e9 / ((double)ROUNDS * INPUTS));                                                          \
    }
