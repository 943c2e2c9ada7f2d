//! Resume tokens: bound to one session, used once, within a window (R1, R2).

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;

use subtle::ConstantTimeEq;

use super::Limits;
use crate::state::{Refusal, Source, Time};
use crate::{ProfileId, SessionErrorCode, SessionFlagsAck, SessionOpen};

const SECRET: usize = 24;

/// The public part of a token, by which its session is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u64);

/// A resume token: 8 bytes to find it by, 24 bytes of secret.
///
/// Looking the first up may take a time that tells something about it; the second is compared in constant time and
/// is all that counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token([u8; 8 + SECRET]);

impl Token {
    /// Its bytes on the wire.
    pub const SIZE: usize = 8 + SECRET;

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

impl<T> Slot<T> {
    /// The secret of the token of that name, which is this one's or the one's before.
    fn secret(&self, handle: Handle, by: Handle) -> Option<[u8; SECRET]> {
        if by == handle {
            return Some(self.secret);
        }
        self.before.filter(|(before, _)| *before == by).map(|(_, secret)| secret)
    }
}

/// What a token is bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The session.
    pub session_id: u32,
    /// Whose it is, as the caller's authentication tells one client from another.
    pub principal: u64,
    /// Its profile.
    pub profile: ProfileId,
    /// Its default schema and version.
    pub schema: (u32, u32),
    /// What was granted to it.
    pub flags: SessionFlagsAck,
    /// How long it can be resumed after its connection is gone.
    pub window_ms: u32,
}

#[derive(Clone)]
struct Slot<T> {
    secret: [u8; SECRET],
    /// The token before, until the client shows that it has this one.
    before: Option<(Handle, [u8; SECRET])>,
    bound: Bound,
    /// What its connection left; nothing while that is still there.
    left: Option<T>,
    until: Option<Time>,
}

/// The tokens that a server has given out, over all its connections.
///
/// `T` is what is kept of a session between two connections. The window runs from the end of the first one; until
/// then a token is good for moving the session away.
///
/// A token is used once. Whether it was used the client knows only when it has the next one, which may be lost on its way:
/// so the one before stays good until [`Self::confirm`] says that the client has the new one.
///
/// ```
/// use nnrp_core::SessionOpen;
/// use nnrp_core::state::{Time, resume::{Bound, Limits, Tokens}};
///
/// let mut random = 7u64; // a real server uses a cryptographic source
/// let mut source = || { random += 1; random };
/// let mut tokens = Tokens::new(Limits::default());
/// let bound = Bound { session_id: 5, window_ms: 1_000, ..Default::default() };
/// let (handle, token) = tokens.issue(bound, &mut source).unwrap();
/// tokens.detach(handle, "what the session was doing", Time(0));
///
/// let open = SessionOpen::default();
/// let plan = tokens.check_resume(token.as_bytes(), &open, 0, Time(999)).unwrap();
/// let resumed = tokens.apply_resume(plan).unwrap();
/// assert_eq!(resumed.left, Some("what the session was doing"));
///
/// let (next, _) = tokens.renew(resumed.used, bound, &mut source).unwrap();
/// tokens.confirm(next);
/// assert!(tokens.check_resume(token.as_bytes(), &open, 0, Time(999)).is_err());
/// ```
#[derive(Clone)]
pub struct Tokens<T> {
    limits: Limits,
    slots: BTreeMap<Handle, Slot<T>>,
    /// Tokens that were used, and the ones in their place.
    used: BTreeMap<Handle, Handle>,
    timers: BTreeSet<(Time, Handle)>,
}

impl<T> fmt::Debug for Tokens<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Secrets stay out of logs.
        out.debug_struct("Tokens").field("sessions", &self.slots.len()).finish_non_exhaustive()
    }
}

/// A session that may be resumed.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ResumePlan {
    handle: Handle,
    /// The token that was brought: of that name, or the one before it.
    by: Handle,
    bound: Bound,
}

impl ResumePlan {
    /// What the token is bound to.
    pub const fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The name of the session's newest token.
    pub const fn handle(&self) -> Handle {
        self.handle
    }

    /// Whether the token that was brought is the one before that, which was used already.
    pub fn is_used(&self) -> bool {
        self.by != self.handle
    }
}

/// A session that was resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed<T> {
    /// What the token was bound to.
    pub bound: Bound,
    /// What its old connection left; nothing where that is still there and has to give it up first.
    pub left: Option<T>,
    /// The token that was used, for [`Tokens::renew`].
    pub used: Used,
}

/// A token that was used.
#[derive(Clone, PartialEq, Eq)]
pub struct Used {
    handle: Handle,
    secret: [u8; SECRET],
    window_ms: u32,
}

impl fmt::Debug for Used {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Used(…)")
    }
}

impl<T> Tokens<T> {
    /// No tokens yet.
    pub const fn new(limits: Limits) -> Self {
        Self { limits, slots: BTreeMap::new(), used: BTreeMap::new(), timers: BTreeSet::new() }
    }

    /// Sessions that can be resumed.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether no further session gets a token.
    pub fn is_full(&self) -> bool {
        self.slots.len() >= self.limits.sessions
    }

    /// Whether the session of a token has no connection now.
    pub fn is_detached(&self, handle: Handle) -> bool {
        self.slots.get(&handle).is_some_and(|slot| slot.left.is_some())
    }

    /// Gives out a token for a session. `None` where there is no window (R1) or no room: the session is then not
    /// resumable.
    pub fn issue(&mut self, bound: Bound, source: &mut impl Source) -> Option<(Handle, Token)> {
        if bound.window_ms == 0 || self.is_full() {
            return None;
        }
        self.insert(bound, None, source)
    }

    /// Gives out the next token for a session that was resumed. The used one stays good until [`Self::confirm`]; if there
    /// is no window from now on, so does its window.
    pub fn renew(&mut self, used: Used, bound: Bound, source: &mut impl Source) -> Option<(Handle, Token)> {
        let window_ms = if bound.window_ms == 0 { used.window_ms } else { bound.window_ms };
        self.insert(Bound { window_ms, ..bound }, Some((used.handle, used.secret)), source)
    }

    /// The client has that token, and the one before is good for nothing from here on.
    pub fn confirm(&mut self, handle: Handle) {
        let before = self.slots.get_mut(&handle).and_then(|slot| slot.before.take());
        if let Some((before, _)) = before {
            self.used.remove(&before);
        }
    }

    fn insert(
        &mut self,
        bound: Bound,
        before: Option<(Handle, [u8; SECRET])>,
        source: &mut impl Source,
    ) -> Option<(Handle, Token)> {
        let before_handle = before.map(|(handle, _)| handle);
        let is_free = |handle: &Handle| {
            !self.slots.contains_key(handle)
                && !self.used.contains_key(handle)
                && Some(*handle) != before_handle
        };
        // The same 64 bits twice means a broken source; a few tries, and then no token rather than a shared one.
        let handle = (0..4).map(|_| Handle(source.next())).find(is_free)?;
        let mut secret = [0; SECRET];
        source.fill(&mut secret);
        let mut token = [0; Token::SIZE];
        let bytes = handle.0.to_le_bytes().into_iter().chain(secret);
        token.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        self.slots.insert(handle, Slot { secret, before, bound, left: None, until: None });
        self.used.extend(before_handle.map(|before| (before, handle)));
        Some((handle, Token(token)))
    }

    /// The session ended in order; its token is good for nothing from here on.
    pub fn revoke(&mut self, handle: Handle) {
        self.take(handle);
    }

    /// The session's connection is gone: keeps what is left of it, and its window begins. Gives it back where there
    /// is no such token.
    pub fn detach(&mut self, handle: Handle, left: T, now: Time) -> Option<T> {
        let Some(slot) = self.slots.get_mut(&handle).filter(|slot| slot.left.is_none()) else {
            return Some(left);
        };
        let until = now.after(slot.bound.window_ms.into());
        slot.left = Some(left);
        slot.until = Some(until);
        self.timers.insert((until, handle));
        None
    }

    /// Checks a token and the request that brings it.
    ///
    /// # Errors
    ///
    /// `resume_rejected` for a token that is unknown, was used or came too late, is another client's or for another
    /// session, and for a request that does not fit the session's profile, schema or flags (R2).
    pub fn check_resume(
        &self,
        token: &[u8],
        open: &SessionOpen,
        principal: u64,
        now: Time,
    ) -> Result<ResumePlan, Refusal> {
        let reject = |why| Refusal::session(SessionErrorCode::RESUME_REJECTED, "R2", why);
        let invalid = reject("the resume token is not valid");
        let (handle, secret) = token.split_first_chunk().ok_or(invalid)?;
        let by = Handle(u64::from_le_bytes(*handle));
        let handle = self.used.get(&by).copied().unwrap_or(by);
        let slot = self.slots.get(&handle);
        // Also without a slot there is a comparison, so that an answer takes as long either way.
        let known = slot.and_then(|slot| slot.secret(handle, by)).unwrap_or([0; SECRET]);
        let equal: bool = known.ct_eq(secret).into();
        let slot = slot.filter(|_| equal).ok_or(invalid)?;
        if slot.until.is_some_and(|until| until <= now) {
            return Err(reject("the resume window is over"));
        }
        let bound = slot.bound;
        if principal != bound.principal {
            return Err(reject("the resume token is another client's"));
        }
        if open.requested_session_id != 0 && open.requested_session_id != bound.session_id {
            return Err(reject("the resume token is for another session"));
        }
        // 0 asks for none and takes the session's.
        if open.profile_id != ProfileId::UNSPECIFIED && open.profile_id != bound.profile {
            return Err(reject("the session has another profile"));
        }
        if open.schema_id != 0 && (open.schema_id, open.schema_version) != bound.schema {
            return Err(reject("the session has another default schema"));
        }
        if !bound.flags.contains(SessionFlagsAck::from_bits_truncate(open.session_flags.bits().into())) {
            return Err(reject("the session was not granted these flags"));
        }
        Ok(ResumePlan { handle, by, bound })
    }

    /// Resumes: the token is used up. The session gets the next one by [`Self::renew`].
    pub fn apply_resume(&mut self, plan: ResumePlan) -> Option<Resumed<T>> {
        let ResumePlan { handle, by, .. } = plan;
        let slot = self.take(handle)?;
        let secret = slot.secret(handle, by)?;
        let used = Used { handle: by, secret, window_ms: slot.bound.window_ms };
        Some(Resumed { bound: slot.bound, left: slot.left, used })
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.first().map(|(until, _)| *until)
    }

    /// Gives up the next session whose window is over. Call it until it gives `None`.
    pub fn handle_timeout(&mut self, now: Time) -> Option<(Bound, T)> {
        let (until, handle) = *self.timers.first()?;
        if until > now {
            return None;
        }
        let slot = self.take(handle)?;
        slot.left.map(|left| (slot.bound, left))
    }

    fn take(&mut self, handle: Handle) -> Option<Slot<T>> {
        let slot = self.slots.remove(&handle)?;
        if let Some(until) = slot.until {
            self.timers.remove(&(until, handle));
        }
        if let Some((before, _)) = slot.before {
            self.used.remove(&before);
        }
        Some(slot)
    }
}
