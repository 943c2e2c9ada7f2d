//! SHA-256, so that a digest is a constant.

/// The 64-bit digest of bytes: the first eight bytes of their SHA-256, read little-endian.
pub const fn digest(bytes: &[u8]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = sha256(bytes);
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

#[rustfmt::skip]
const ROUND: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The SHA-256 of bytes.
pub const fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut state = START;
    let bits = (bytes.len() as u64).wrapping_mul(8).to_be_bytes();
    // One byte of padding and eight of length at least.
    let blocks = (bytes.len() + 9).div_ceil(64);
    let mut block = 0;
    while block < blocks {
        let mut chunk = [0; 64];
        let mut at = 0;
        while at < 64 {
            let place = block * 64 + at;
            chunk[at] = if place < bytes.len() {
                bytes[place]
            } else if place == bytes.len() {
                0x80
            } else if block + 1 == blocks && at >= 56 {
                bits[at - 56]
            } else {
                0
            };
            at += 1;
        }
        state = compress(state, &chunk);
        block += 1;
    }
    let mut out = [0; 32];
    let mut at = 0;
    while at < 32 {
        out[at] = state[at / 4].to_be_bytes()[at % 4];
        at += 1;
    }
    out
}

const fn compress(state: [u32; 8], chunk: &[u8; 64]) -> [u32; 8] {
    let mut words = [0u32; 64];
    let mut at = 0;
    while at < 16 {
        words[at] =
            u32::from_be_bytes([chunk[at * 4], chunk[at * 4 + 1], chunk[at * 4 + 2], chunk[at * 4 + 3]]);
        at += 1;
    }
    while at < 64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let early = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let late = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        words[at] = words[at - 16].wrapping_add(early).wrapping_add(words[at - 7]).wrapping_add(late);
        at += 1;
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    let mut at = 0;
    while at < 64 {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(ROUND[at]).wrapping_add(words[at]);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second = sum.wrapping_add(majority);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        at += 1;
    }
    [
        state[0].wrapping_add(a),
        state[1].wrapping_add(b),
        state[2].wrapping_add(c),
        state[3].wrapping_add(d),
        state[4].wrapping_add(e),
        state[5].wrapping_add(f),
        state[6].wrapping_add(g),
        state[7].wrapping_add(h),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From FIPS 180-2, and around the edges of a block.
    #[test]
    fn known_digests() {
        let start = |bytes: &[u8]| u32::from_be_bytes(*sha256(bytes).first_chunk().unwrap());
        assert_eq!(start(b""), 0xe3b0_c442);
        assert_eq!(start(b"abc"), 0xba78_16bf);
        assert_eq!(start(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 0x248d_6a61);
        assert_eq!(start(&[b'a'; 55]), 0x9f4390f8);
        assert_eq!(start(&[b'a'; 56]), 0xb35439a4);
        assert_eq!(start(&[b'a'; 64]), 0xffe054fe);
        assert_eq!(start(&[b'a'; 1000]), 0x41edece4);
        assert_eq!(digest(b"abc"), 0xeacf_018f_bf16_78ba);
    }
}
