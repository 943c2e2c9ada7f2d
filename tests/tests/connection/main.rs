//! Two composed connections, from hello to the end.

mod basics;
mod link;
mod say;
