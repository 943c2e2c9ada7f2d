//! Hex as people paste it: spaces, line ends, `:` between bytes and `0x` in front of them do not count.

use std::ops::Range;

/// What is wrong with a text of hex, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HexError {
    pub at: Range<usize>,
    pub message: String,
}

/// The bytes of a text of hex.
pub(super) fn parse(text: &str) -> Result<Vec<u8>, HexError> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    // The first digit of a byte, and where it stands.
    let mut half: Option<(usize, u8)> = None;
    let mut rest = text.char_indices().peekable();
    let mut fresh = true;
    while let Some((at, letter)) = rest.next() {
        let between = letter.is_ascii_whitespace() || letter == ':';
        if between
            || (fresh && letter == '0' && rest.next_if(|(_, next)| matches!(next, 'x' | 'X')).is_some())
        {
            if let Some((at, _)) = half {
                return Err(lonely(at));
            }
            fresh = between;
            continue;
        }
        fresh = false;
        let Some(digit) = letter.to_digit(16) else {
            let message = format!("`{}` is no hex digit", letter.escape_debug());
            return Err(HexError { at: at..at + letter.len_utf8(), message });
        };
        half = match half {
            None => Some((at, digit as u8)),
            Some((_, high)) => {
                bytes.push(high << 4 | digit as u8);
                None
            }
        };
    }
    match half {
        Some((at, _)) => Err(lonely(at)),
        None => Ok(bytes),
    }
}

fn lonely(at: usize) -> HexError {
    HexError { at: at..at + 1, message: "this byte has only one digit, and bytes have two".to_owned() }
}

/// Bytes in hex, `between` between them.
pub(super) fn write(bytes: &[u8], between: &str) -> String {
    let mut text = String::with_capacity(bytes.len() * (2 + between.len()));
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 {
            text.push_str(between);
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_paste() {
        let good = [0xde, 0xad, 0xbe, 0xef];
        for text in [
            "deadbeef",
            "DE AD be ef",
            "0xdeadbeef",
            "0xde 0xad\t0xBE 0Xef",
            "de:ad:be:ef",
            "\nde ad\r\nbe ef\n",
        ] {
            assert_eq!(parse(text).as_deref(), Ok(good.as_slice()), "{text:?}");
        }
        assert_eq!(parse(" \n"), Ok(Vec::new()));
        assert_eq!(parse("00x0").unwrap_err().at, 2..3);
        assert_eq!(write(&good, " "), "de ad be ef");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert_eq!(parse("dea").unwrap_err().at, 2..3);
        assert_eq!(parse("de a be").unwrap_err().at, 3..4);
        assert_eq!(parse("0x1 02").unwrap_err().at, 2..3);
        let error = parse("de äd").unwrap_err();
        assert_eq!((error.at, error.message.as_str()), (3..5, "`ä` is no hex digit"));
    }
}
