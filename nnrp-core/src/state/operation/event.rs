//! What a message does to the operation that it names, as a table.

use crate::{
    DropReasonCode, Error, ErrorCode, OperationState, PartialResult, PartialResultFlags, Progress,
    ResultClass, ResultDrop, ResultDropFlags, ResultFlags, ResultPush, StageCode,
};

/// Something that happens to one operation.
///
/// Cancelling and superseding have checks of their own, since they reach further than one.
///
/// ```
/// use nnrp_core::{OperationState, Progress, ResultClass, ResultPush, StageCode};
/// use nnrp_core::state::operation::Event;
///
/// let waits = Progress { stage_code: StageCode::WAITING_DEPENDENCY, ..Progress::default() };
/// assert_eq!(Event::from(&waits).target(), Some(OperationState::WaitingTool));
/// // The end of the stream completes what is partial by class.
/// let push = ResultPush { result_class: ResultClass::Partial, ..ResultPush::default() };
/// assert_eq!(Event::result(&push, false).target(), Some(OperationState::Partial));
/// assert_eq!(Event::result(&push, true).target(), Some(OperationState::Completed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// PROGRESS.
    Progress {
        /// `progress_sequence`.
        sequence: u64,
        /// `stage_code`.
        stage: StageCode,
    },
    /// PARTIAL_RESULT.
    Partial {
        /// `result_sequence`.
        sequence: u64,
        /// Whether no further partial follows.
        last: bool,
    },
    /// RESULT_PUSH.
    Result {
        /// Whether more follows: partial by class or flag, and no `eos` in the header.
        partial: bool,
    },
    /// RESULT_DROP.
    Dropped,
    /// RESULT_DROP_REASON.
    DropReason {
        /// `drop_reason_code`.
        reason: DropReasonCode,
        /// Whether the operation ends, rather than lose one result.
        last: bool,
    },
    /// ERROR of scope frame.
    Error {
        /// `error_code`.
        code: ErrorCode,
    },
    /// Any other message that names an operation and leaves its state alone, such as RETRY_AFTER.
    Other,
}

impl Event {
    /// A RESULT_PUSH under a header with or without `eos`. Its status code decides nothing (T3).
    pub fn result(push: &ResultPush, eos: bool) -> Self {
        let part =
            push.result_class == ResultClass::Partial || push.result_flags.contains(ResultFlags::PARTIAL);
        Self::Result { partial: part && !eos }
    }

    /// The state that it asks for, `None` to leave it.
    pub const fn target(self) -> Option<OperationState> {
        match self {
            Self::Progress { stage, .. } => match stage {
                StageCode::EXECUTING | StageCode::PRODUCING_PARTIAL | StageCode::FINALIZING => {
                    Some(OperationState::Running)
                }
                StageCode::WAITING_DEPENDENCY => Some(OperationState::WaitingTool),
                _ => None,
            },
            Self::Partial { .. } | Self::Result { partial: true } => Some(OperationState::Partial),
            Self::Result { partial: false } => Some(OperationState::Completed),
            Self::Dropped => Some(OperationState::Failed),
            Self::DropReason { last: false, .. } => None,
            Self::DropReason { reason, last: true } => match reason {
                DropReasonCode::SUPERSEDED => Some(OperationState::Superseded),
                DropReasonCode::PEER_CANCELLED => Some(OperationState::Cancelled),
                _ => Some(OperationState::Failed),
            },
            Self::Error { code } => match code {
                ErrorCode::FRAME_CANCELLED => Some(OperationState::Cancelled),
                _ => Some(OperationState::Failed),
            },
            Self::Other => None,
        }
    }
}

impl From<&Progress> for Event {
    fn from(progress: &Progress) -> Self {
        Self::Progress { sequence: progress.progress_sequence, stage: progress.stage_code }
    }
}

impl From<&PartialResult> for Event {
    fn from(partial: &PartialResult) -> Self {
        let last = partial.flags.contains(PartialResultFlags::FINAL_PARTIAL);
        Self::Partial { sequence: partial.result_sequence, last }
    }
}

impl From<&ResultDrop> for Event {
    fn from(drop: &ResultDrop) -> Self {
        Self::DropReason { reason: drop.drop_reason_code, last: drop.flags.contains(ResultDropFlags::FINAL) }
    }
}

impl From<&Error> for Event {
    fn from(error: &Error) -> Self {
        Self::Error { code: error.error_code }
    }
}

/// How to get from a state to another along the arrows of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Stay,
    Direct,
    /// Through running, for what was accepted or waits.
    ThroughRunning,
    /// Nothing leads there.
    None,
}

pub(super) const fn route(from: OperationState, to: OperationState) -> Route {
    if from.can_become(to) {
        Route::Direct
    } else if from as u8 == to as u8 && !from.is_terminal() {
        Route::Stay
    } else if from.can_become(OperationState::Running) && OperationState::Running.can_become(to) {
        Route::ThroughRunning
    } else {
        Route::None
    }
}
