//! Two composed connections, from hello to the end.

mod agree;
mod basics;
mod flow;
mod gone;
mod hostile;
mod kept;
mod link;
mod model;
mod order;
mod probe;
mod pulse;
mod refused;
mod resume;
mod rich;
mod rules;
mod say;
mod settled;
mod store;
mod walk;
mod work;
