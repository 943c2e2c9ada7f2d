//! Two composed connections, from hello to the end.

mod basics;
mod hostile;
mod link;
mod model;
mod refused;
mod rich;
mod say;
mod walk;
