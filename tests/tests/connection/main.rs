//! Two composed connections, from hello to the end.

mod basics;
mod flow;
mod hostile;
mod kept;
mod link;
mod model;
mod pulse;
mod refused;
mod resume;
mod rich;
mod rules;
mod say;
mod store;
mod walk;
mod work;
