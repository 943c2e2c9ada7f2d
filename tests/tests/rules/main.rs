//! Every rule of the protocol, named after its number: something good, one change, and the exact fault.

mod bodies;
mod carriers;
mod codes;
mod fields;
mod framing;
mod hostile;
mod needed;
mod operations;
mod payloads;
mod samples;
mod tensor;
mod vector;
