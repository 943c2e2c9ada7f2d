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
