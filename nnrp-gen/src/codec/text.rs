//! Bytes as text: as it is where all of it is printable, and else in hex.

/// Bytes as text that [`bytes_of_text`] leads back from.
pub fn bytes_as_text(bytes: &[u8]) -> String {
    let printable = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    match std::str::from_utf8(bytes) {
        // Text that looks like hex would be read as hex.
        Ok(text) if printable && !text.starts_with("0x") => text.to_owned(),
        _ => bytes_as_hex(bytes),
    }
}

/// Bytes as hex behind `0x`.
pub fn bytes_as_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// The bytes that text stands for: those after `0x`, or the text itself.
///
/// # Errors
///
/// What is wrong with the hex, as the end of a sentence.
pub fn bytes_of_text(text: &str) -> Result<Vec<u8>, String> {
    let Some(digits) = text.strip_prefix("0x") else {
        return Ok(text.as_bytes().to_vec());
    };
    if let Some(other) = digits.chars().find(|digit| !digit.is_ascii_hexdigit()) {
        return Err(format!("`{}` is no hex digit", other.escape_debug()));
    }
    let digits = digits.as_bytes();
    if digits.len() % 2 != 0 {
        return Err("the last byte has only one digit".to_owned());
    }
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    Ok(digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect())
}
