//! Short forms of what applications send most, which fill in frames and numbers (O4, O6).

use super::event::Why;
use super::live::unknown;
use super::{Connection, Message};
use crate::build::ResultBuilder;
use crate::state::session::Verdict;
use crate::state::{Refusal, Time};
use crate::{
    CancelBody, CommonHeader, ControlRequest, PartialResult, PartialResultBody, Progress, ProgressBody,
    StageCode, TraceContext, TraceContextBody,
};

impl Connection {
    /// Says how far an operation is, in hundredths of a percent; 0xffff where that is not known.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that does not live, and a fault for more than 10000.
    pub fn progress(
        &mut self,
        session_id: u32,
        operation_id: u64,
        stage_code: StageCode,
        percent_x100: u16,
        now: Time,
    ) -> Result<(), Why> {
        let header = self.header_of(session_id, operation_id)?;
        let progress = Progress { operation_id, stage_code, percent_x100, ..Progress::default() };
        self.send(&header, &Message::Progress(progress, ProgressBody { progress_body: b"" }), now)
    }

    /// Delivers a usable part of an operation's result.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that does not live, and [`Why::Blocked`] without credit for it (W1).
    pub fn partial(
        &mut self,
        session_id: u32,
        operation_id: u64,
        result_body: &[u8],
        now: Time,
    ) -> Result<(), Why> {
        let header = self.header_of(session_id, operation_id)?;
        let partial = PartialResult { operation_id, ..PartialResult::default() };
        self.send(&header, &Message::PartialResult(partial, PartialResultBody { result_body }), now)
    }

    /// Delivers an operation's result, which ends it unless the result says that it is partial.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that does not live.
    pub fn result(
        &mut self,
        session_id: u32,
        operation_id: u64,
        result: &ResultBuilder,
        now: Time,
    ) -> Result<(), Why> {
        let header = self.header_of(session_id, operation_id)?;
        let packet = result.to_vec(&header).map_err(Why::Fault)?;
        self.send_packet(&packet, now)
    }

    /// Asks for the end of an operation. It ends with the answer of the peer's, or with a result that crossed it.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that does not live.
    pub fn cancel(&mut self, session_id: u32, operation_id: u64, now: Time) -> Result<(), Why> {
        let (header, request) = self.request(session_id, operation_id)?;
        self.send(&header, &Message::Cancel(request, CancelBody { diagnostic: b"" }), now)
    }

    /// The same, but the peer ends it at once.
    ///
    /// # Errors
    ///
    /// As [`Self::cancel`].
    pub fn abort(&mut self, session_id: u32, operation_id: u64, now: Time) -> Result<(), Why> {
        let (header, request) = self.request(session_id, operation_id)?;
        self.send(&header, &Message::Abort(request, crate::AbortBody { diagnostic: b"" }), now)
    }

    /// Says where a session, or a live operation of it, belongs in a trace. The frame of the operation is found here
    /// (T1).
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that does not live, and a fault for ids that are 0 (D18).
    pub fn tell_trace(
        &mut self,
        session_id: u32,
        operation_id: Option<u64>,
        context: &TraceContext,
        now: Time,
    ) -> Result<(), Why> {
        let header = match operation_id {
            Some(operation_id) => self.header_of(session_id, operation_id)?,
            None => CommonHeader { session_id, ..CommonHeader::default() },
        };
        let body = TraceContextBody { trace_attributes: b"" };
        self.send(&header, &Message::TraceContext(*context, body), now)
    }

    /// Answers the peer's request to close a session: it goes on as the request says, and the peer learns up to which
    /// operation it may expect an end (S3).
    ///
    /// # Errors
    ///
    /// As [`Self::answer_close`].
    pub fn accept_close(&mut self, session_id: u32, now: Time) -> Result<(), Why> {
        let last_operation_id = self.operations(session_id).map_or(0, |operations| operations.newest());
        self.answer_close(session_id, Verdict::Proceed { last_operation_id }, now)
    }

    fn request(&self, session_id: u32, operation_id: u64) -> Result<(CommonHeader, ControlRequest), Why> {
        let header = self.header_of(session_id, operation_id)?;
        let source_role = self.config.role;
        Ok((header, ControlRequest { operation_id, source_role, ..ControlRequest::default() }))
    }

    /// The header of a message about a live operation.
    pub(super) fn header_of(&self, session_id: u32, operation_id: u64) -> Result<CommonHeader, Why> {
        let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
        let operation = live.operations.by_id(operation_id);
        let gone = Refusal::state("O4", "there is no such live operation").about(operation_id);
        let frame_id = operation.ok_or(gone)?.frame();
        Ok(CommonHeader { session_id, frame_id, ..CommonHeader::default() })
    }
}
