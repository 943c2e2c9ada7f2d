//! Trace contexts of a session and of its operations.

use alloc::collections::BTreeMap;

use super::Refusal;
use crate::{ErrorCode, StageCode, TraceContext};

/// Where something belongs in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The trace.
    pub trace_id: u64,
    /// The current span.
    pub span_id: u64,
    /// The span above it, 0 for none.
    pub parent_span_id: u64,
    /// The stage that the span is about.
    pub stage: StageCode,
}

impl From<&TraceContext> for Context {
    fn from(context: &TraceContext) -> Self {
        Self {
            trace_id: context.trace_id,
            span_id: context.span_id,
            parent_span_id: context.parent_span_id,
            stage: context.stage_code,
        }
    }
}

/// The newest contexts of one session (T1).
///
/// TRACE_CONTEXT names an operation by its frame alone. The frame is one of a live operation, which the caller
/// knows (`Operations::by_frame`); a sender takes it from there too, and never makes one up.
///
/// ```
/// use nnrp_core::{TraceContext, state::trace::Traces};
///
/// let mut traces = Traces::default();
/// let context = TraceContext { trace_id: 1, span_id: 2, ..TraceContext::default() };
/// let plan = traces.check_update(0, &context, false)?;
/// traces.apply_update(plan);
/// // An operation without a context of its own belongs to that of the session.
/// assert_eq!(traces.of(5).unwrap().span_id, 2);
/// assert!(traces.check_update(5, &context, false).is_err());
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Traces {
    session: Option<Context>,
    frames: BTreeMap<u32, Context>,
}

/// A context that may be applied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct TracePlan {
    frame: u32,
    context: Context,
}

impl Traces {
    /// The session's context.
    pub fn session(&self) -> Option<&Context> {
        self.session.as_ref()
    }

    /// The context of the operation with that frame: its own, else the session's.
    pub fn of(&self, frame: u32) -> Option<&Context> {
        self.frames.get(&frame).or(self.session.as_ref())
    }

    /// Operations with a context of their own.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether no operation has a context of its own.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether a context may be applied: frame 0 is the session's, any other must be of a live operation.
    pub fn check_update(
        &self,
        frame: u32,
        context: &TraceContext,
        is_live: bool,
    ) -> Result<TracePlan, Refusal> {
        if frame != 0 && !is_live {
            let why = "the frame is of no live operation";
            return Err(Refusal::new(ErrorCode::INVALID_STATE, "T1", why).about(frame as u64));
        }
        Ok(TracePlan { frame, context: context.into() })
    }

    /// Applies it.
    pub fn apply_update(&mut self, plan: TracePlan) {
        match plan.frame {
            0 => self.session = Some(plan.context),
            frame => {
                self.frames.insert(frame, plan.context);
            }
        }
    }

    /// Lets go of an operation that ended. Its frame may come again in another pair.
    pub fn forget(&mut self, frame: u32) {
        self.frames.remove(&frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(span_id: u64) -> TraceContext {
        TraceContext { trace_id: 9, span_id, parent_span_id: 1, ..TraceContext::default() }
    }

    #[test]
    fn t1_frame_0_is_the_session_and_others_are_live_operations() {
        let mut traces = Traces::default();
        let plan = traces.check_update(0, &context(1), false).unwrap();
        traces.apply_update(plan);
        let plan = traces.check_update(4, &context(2), true).unwrap();
        traces.apply_update(plan);
        assert_eq!(traces.session().unwrap().span_id, 1);
        assert_eq!(traces.of(4).unwrap().span_id, 2);
        assert_eq!(traces.of(5).unwrap().span_id, 1);
    }

    #[test]
    fn t1_unknown_and_ended_frames_are_refused() {
        let mut traces = Traces::default();
        let refusal = traces.check_update(4, &context(2), false).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "T1"));
        let plan = traces.check_update(4, &context(2), true).unwrap();
        traces.apply_update(plan);
        traces.forget(4);
        assert_eq!(traces.of(4), None);
        assert!(traces.is_empty());
    }
}
