//! The codes of C4 by what they are for, so that one condition always gets the same code.

use super::Refusal;
use crate::{CacheErrorCode, ErrorCode, SchemaErrorCode, SessionErrorCode};

impl Refusal {
    /// Wrong state, order or direction, or something unknown or there already.
    pub(crate) const fn state(rule: &'static str, why: &'static str) -> Self {
        Self::new(ErrorCode::INVALID_STATE, rule, why)
    }

    /// Over a limit.
    pub(crate) const fn limit(rule: &'static str, why: &'static str) -> Self {
        Self::new(ErrorCode::LIMIT_EXCEEDED, rule, why)
    }

    /// Not negotiated, or not known here.
    pub(crate) const fn capability(rule: &'static str, why: &'static str) -> Self {
        Self::new(ErrorCode::UNSUPPORTED_CAPABILITY, rule, why)
    }

    /// A packet that contradicts itself.
    pub(crate) const fn malformed(rule: &'static str, why: &'static str) -> Self {
        Self::new(ErrorCode::MALFORMED_BODY, rule, why)
    }

    pub(crate) const fn session(code: SessionErrorCode, rule: &'static str, why: &'static str) -> Self {
        Self::new(general(code.raw()), rule, why)
    }

    pub(crate) const fn cache(code: CacheErrorCode, rule: &'static str, why: &'static str) -> Self {
        Self::new(general(code.raw()), rule, why)
    }

    pub(crate) const fn schema(code: SchemaErrorCode, rule: &'static str, why: &'static str) -> Self {
        Self::new(general(code.raw()), rule, why)
    }
}

/// The families' codes are numbers of `ErrorCode` too, which is open over all of them.
const fn general(raw: u32) -> ErrorCode {
    match ErrorCode::from_raw(raw) {
        Some(code) => code,
        None => ErrorCode::INTERNAL_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c4_each_kind_of_refusal_has_its_code() {
        assert_eq!(Refusal::state("C1", "").code, ErrorCode::INVALID_STATE);
        assert_eq!(Refusal::limit("S9", "").code, ErrorCode::LIMIT_EXCEEDED);
        assert_eq!(Refusal::capability("C6", "").code, ErrorCode::UNSUPPORTED_CAPABILITY);
        assert_eq!(Refusal::malformed("C9", "").code, ErrorCode::MALFORMED_BODY);
        // Where a family has its own code, that code is used.
        assert_eq!(Refusal::session(SessionErrorCode::RESUME_REJECTED, "R2", "").code.raw() >> 16, 1);
        assert_eq!(Refusal::cache(CacheErrorCode::CacheMiss, "K3", "").code.raw() >> 16, 3);
        assert_eq!(Refusal::schema(SchemaErrorCode::SchemaUnknown, "G4", "").code.raw() >> 16, 4);
    }
}
