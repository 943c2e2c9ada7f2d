/* Swapping and, on hosts that are not known to be little-endian, reading and writing is done by shifts, which are right
   everywhere. PROTO_SHIFTS_ONLY has that on every host. */
#if !defined(PROTO_SHIFTS_ONLY) && defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PROTO_COPIES_
#endif
#endif
