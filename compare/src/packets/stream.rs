//! The stream that is measured: what goes both ways between a client and a server that are at work.

use nnrp_core::build::{Capabilities, Extensions, ResultBuilder, SectionTable, SubmitBuilder, Tiles};
use nnrp_core::*;

use crate::inputs::Random;

/// Flags of tokens: the published crate reads descriptors of a later preview, in which this bit says what they are.
const TOKENS: DescriptorFlags = DescriptorFlags::PARTIAL;

/// Some packets, and what they are called in the report.
pub struct Kind {
    pub name: &'static str,
    pub packets: Vec<Vec<u8>>,
}

/// What a kind is called, how many there are, and what makes one.
type Row = (&'static str, usize, fn(&mut Make) -> Vec<u8>);

/// All kinds, each as often as it may be in such a stream.
pub fn kinds() -> Vec<Kind> {
    let mut make = Make { random: Random::new(1) };
    let rows: [Row; 20] = [
        ("submit, tokens", 24, Make::submit_tokens),
        ("submit, tensor", 12, Make::submit_tensor),
        ("submit, references", 12, Make::submit_references),
        ("result, tokens", 24, Make::result_tokens),
        ("result, tensor", 12, Make::result_tensor),
        ("partial_result", 32, Make::partial_result),
        ("progress", 32, Make::progress),
        ("flow_update", 16, Make::flow_update),
        ("credit_update", 12, Make::credit_update),
        ("backpressure", 4, Make::backpressure),
        ("deadline", 8, Make::deadline),
        ("cancel", 4, Make::cancel),
        ("trace_context", 8, Make::trace_context),
        ("object_declare", 8, Make::object_declare),
        ("client_hello", 4, Make::client_hello),
        ("session_open", 8, Make::session_open),
        ("session_open_ack", 8, Make::session_open_ack),
        ("capability_negotiation", 4, Make::capabilities),
        ("ping, pong", 16, Make::ping),
        ("close", 2, Make::close),
    ];
    let kinds = rows
        .into_iter()
        .map(|(name, count, packet)| Kind { name, packets: (0..count).map(|_| packet(&mut make)).collect() });
    kinds.collect()
}

/// All packets in an order that nobody can foresee.
pub fn mixed(kinds: &[Kind]) -> Vec<Vec<u8>> {
    let mut random = Random::new(2);
    let mut packets = kinds.iter().flat_map(|kind| kind.packets.clone()).collect::<Vec<_>>();
    for at in (1..packets.len()).rev() {
        packets.swap(at, random.below(at + 1));
    }
    packets
}

/// Makes packets of numbers that look random.
struct Make {
    random: Random,
}

impl Make {
    fn number(&mut self) -> u64 {
        1 + self.random.below(1 << 20) as u64
    }

    fn bytes(&mut self, least: usize, most: usize) -> Vec<u8> {
        let length = least + self.random.below(most - least + 1);
        (0..length).map(|_| self.random.below(256) as u8).collect()
    }

    fn of_connection(&mut self) -> CommonHeader {
        CommonHeader { trace_id: self.number(), ..CommonHeader::default() }
    }

    fn of_session(&mut self) -> CommonHeader {
        let (session_id, frame_id) = (self.number() as u32, self.number() as u32);
        CommonHeader { session_id, frame_id, trace_id: self.number(), ..CommonHeader::default() }
    }

    fn in_session(&mut self, message: Message<'_>) -> Vec<u8> {
        good(message.to_vec(&self.of_session()))
    }

    fn on_connection(&mut self, message: Message<'_>) -> Vec<u8> {
        good(message.to_vec(&self.of_connection()))
    }

    fn frame_submit(&mut self) -> FrameSubmit {
        FrameSubmit { operation_id: self.number(), latency_budget_ms: 40, ..FrameSubmit::default() }
    }

    fn sections(&mut self, tiles: usize) -> SectionTable {
        let role = |role_id| TensorSectionDescriptor { role_id, ..TensorSectionDescriptor::default() };
        let even = self.bytes(64 * tiles, 64 * tiles);
        let sizes = (0..tiles).map(|_| self.bytes(20, 90)).collect::<Vec<_>>();
        let odd = sizes.iter().map(Vec::as_slice);
        SectionTable::new().fixed(role(1), &[], 64, &even).sized(role(2), &[], odd)
    }

    fn ids(&mut self, tiles: usize) -> Vec<u16> {
        let mut ids = (0..tiles).map(|_| self.random.below(4096) as u16).collect::<Vec<_>>();
        ids.sort_unstable();
        ids
    }

    fn submit_tokens(&mut self) -> Vec<u8> {
        let mut submit = SubmitBuilder::new(self.frame_submit());
        for _ in 0..1 + self.random.below(3) {
            submit = submit.token(TOKENS, &self.bytes(20, 400));
        }
        good(submit.to_vec(&self.of_session()))
    }

    fn submit_tensor(&mut self) -> Vec<u8> {
        let tiles = 8 + self.random.below(9);
        let ids = self.ids(tiles);
        let submit = SubmitBuilder::new(self.frame_submit())
            .camera(&self.bytes(64, 64))
            .tiles(&Tiles::Delta(&ids))
            .sections(self.sections(tiles));
        good(submit.to_vec(&self.of_session()))
    }

    fn submit_references(&mut self) -> Vec<u8> {
        let reference = |kind, key| ObjectReferenceBlock {
            object_kind: CacheObjectKind::from_raw(kind).expect("a kind"),
            cache_namespace: 1,
            cache_key_hi: key,
            cache_key_lo: 2,
        };
        let (camera, table) = (self.number(), self.number());
        let submit = FrameSubmit { payload_kind_bitmap: PayloadKindBitmap::TENSOR, ..self.frame_submit() };
        let submit =
            SubmitBuilder::new(submit).reference(reference(1, camera)).reference(reference(3, table));
        good(submit.to_vec(&self.of_session()))
    }

    fn result_tokens(&mut self) -> Vec<u8> {
        let result = ResultPush { inference_ms: self.number() as u16, ..ResultPush::default() };
        let result = ResultBuilder::new(result).token(TOKENS, &self.bytes(4, 200));
        good(result.to_vec(&self.of_session()))
    }

    fn result_tensor(&mut self) -> Vec<u8> {
        let tiles = 8 + self.random.below(9);
        let ids = self.ids(tiles);
        let result = ResultPush { covered_tile_count: tiles as u16, ..ResultPush::default() };
        let result = ResultBuilder::new(result).tiles(&Tiles::Delta(&ids)).sections(self.sections(tiles));
        good(result.to_vec(&self.of_session()))
    }

    fn partial_result(&mut self) -> Vec<u8> {
        let partial = PartialResult {
            operation_id: self.number(),
            result_sequence: self.number(),
            ..PartialResult::default()
        };
        let result_body = &self.bytes(8, 120)[..];
        self.in_session(Message::PartialResult(partial, PartialResultBody { result_body }))
    }

    fn progress(&mut self) -> Vec<u8> {
        let progress = Progress {
            operation_id: self.number(),
            progress_sequence: self.number(),
            percent_x100: self.random.below(10_001) as u16,
            ..Progress::default()
        };
        let progress_body = &self.bytes(0, 40)[..];
        self.in_session(Message::Progress(progress, ProgressBody { progress_body }))
    }

    fn flow_update(&mut self) -> Vec<u8> {
        let flow = FlowUpdate {
            scope_kind: ScopeKind::Session,
            session_credit: self.number() as u16,
            credit_epoch: self.number() as u32,
            flow_flags: FlowFlags::CREDIT_VALID,
            ..FlowUpdate::default()
        };
        self.in_session(Message::FlowUpdate(flow))
    }

    fn pressure(&mut self) -> Pressure {
        Pressure { credit_window: self.number(), ..Pressure::default() }
    }

    fn credit_update(&mut self) -> Vec<u8> {
        let pressure = self.pressure();
        self.in_session(Message::CreditUpdate(pressure))
    }

    fn backpressure(&mut self) -> Vec<u8> {
        let pressure = Pressure { pressure_level: PressureLevel::SOFT, ..self.pressure() };
        self.in_session(Message::Backpressure(pressure))
    }

    fn deadline(&mut self) -> Vec<u8> {
        let scheduling = Scheduling {
            operation_id: self.number(),
            control_sequence: self.number(),
            deadline_unix_ms: 1_800_000_000_000 + self.number(),
            ..Scheduling::default()
        };
        self.in_session(Message::Deadline(scheduling))
    }

    fn cancel(&mut self) -> Vec<u8> {
        let request = ControlRequest {
            operation_id: self.number(),
            control_sequence: self.number(),
            source_role: Role::CLIENT,
            ..ControlRequest::default()
        };
        let diagnostic = b"no longer wanted";
        self.in_session(Message::Cancel(request, CancelBody { diagnostic }))
    }

    fn trace_context(&mut self) -> Vec<u8> {
        let header = self.of_session();
        let trace = TraceContext {
            trace_id: header.trace_id,
            span_id: self.number(),
            parent_span_id: self.number(),
            ..TraceContext::default()
        };
        let trace_attributes = &self.bytes(0, 60)[..];
        good(Message::TraceContext(trace, TraceContextBody { trace_attributes }).to_vec(&header))
    }

    fn object_declare(&mut self) -> Vec<u8> {
        let header = self.of_session();
        let descriptor = ObjectDescriptor {
            object_id: self.number(),
            producer_role: Role::CLIENT,
            consumer_role: Role::SERVER,
            session_id: header.session_id,
            byte_size: self.number(),
            ..ObjectDescriptor::default()
        };
        let object_metadata = &self.bytes(0, 40)[..];
        good(Message::ObjectDeclare(descriptor, ObjectDeclareBody { object_metadata }).to_vec(&header))
    }

    fn client_hello(&mut self) -> Vec<u8> {
        let hello = ClientHello {
            min_version_major: 1,
            max_version_major: 1,
            supported_wire_format_bitmap: 1,
            supported_profile_bitmap: 0b110,
            supported_payload_kind_bitmap: PayloadKindBitmap::TENSOR | PayloadKindBitmap::TOKEN_CHUNK,
            max_cache_entries: self.number() as u32,
            ..ClientHello::default()
        };
        let extensions = Extensions::new(MessageType::ClientHello).known(TransportPolicyExtension::default());
        let auth = &self.bytes(32, 32)[..];
        let body = ClientHelloBody { auth, ext: good(extensions.entries()) };
        self.on_connection(Message::ClientHello(hello, body))
    }

    fn session_open(&mut self) -> Vec<u8> {
        let open = SessionOpen {
            max_in_flight_operations: 8,
            default_deadline_ms: self.number() as u32,
            client_session_tag: self.number(),
            ..SessionOpen::default()
        };
        let (resume_token, auth) = (&self.bytes(32, 32)[..], &self.bytes(20, 40)[..]);
        let body = SessionOpenBody { resume_token, auth, ..SessionOpenBody::default() };
        self.on_connection(Message::SessionOpen(open, body))
    }

    fn session_open_ack(&mut self) -> Vec<u8> {
        let ack = SessionOpenAck {
            session_id: self.number() as u32,
            granted_operation_credit: 8,
            max_in_flight_operations: 8,
            server_session_tag: self.number(),
            ..SessionOpenAck::default()
        };
        let resume_token = &self.bytes(32, 32)[..];
        self.on_connection(Message::SessionOpenAck(
            ack,
            SessionOpenAckBody { resume_token, ..SessionOpenAckBody::default() },
        ))
    }

    fn capabilities(&mut self) -> Vec<u8> {
        let tokens = ["control.cancel_abort", "control.progress_partial", "object.delta", "cache.reference"];
        let capabilities = Capabilities::new(tokens);
        let body = CapabilityNegotiationBody { capability_entries: good(capabilities.entries()) };
        let offer = Capability { limit_bytes: self.number(), ..Capability::default() };
        self.on_connection(Message::CapabilityNegotiation(offer, body))
    }

    fn ping(&mut self) -> Vec<u8> {
        let message = if self.random.below(2) == 0 { Message::Ping } else { Message::Pong };
        self.on_connection(message)
    }

    fn close(&mut self) -> Vec<u8> {
        self.on_connection(Message::Close(CloseBody::default()))
    }
}

fn good<T>(made: Result<T, wire::Fault>) -> T {
    made.unwrap_or_else(|fault| panic!("{fault}"))
}
