//! What depends on what, as the application declares it (K4). Dependencies of schemas travel by X5.

use super::Connection;
use super::event::Why;
use crate::CacheErrorCode;
use crate::state::Refusal;
use crate::state::cache::{Graph, Need, Node};

impl Connection {
    /// Declares what a cache object, a result or a runtime object depends on, in the place of what was declared before.
    /// Where one of those fails or goes, what depends on it is no longer valid, and
    /// [`Event::Invalidated`](super::Event::Invalidated) says so (K4). What is of a session goes with it.
    ///
    /// # Errors
    ///
    /// `invalid_state` for something that is not there; `dependency_invalid` where it depends on itself or on an object
    /// that is not there in that version; `limit_exceeded` over the limits of the graph.
    pub fn depend(&mut self, node: Node, needs: &[Need]) -> Result<(), Why> {
        let is_there = match node {
            Node::Object(key) => self.cache.get(&key).is_some(),
            // Its dependencies stand in its body.
            Node::Schema { .. } => false,
            Node::Result { session, .. } => self.lives.contains_key(&session),
            Node::Runtime { session, object } => {
                self.lives.get(&session).is_some_and(|live| live.objects.get(object).is_some())
            }
        };
        if !is_there {
            return Err(Refusal::state("K4", "there is nothing that could depend on something").into());
        }
        if needs.iter().any(|need| !self.cache.holds(need, self.now)) {
            let code = CacheErrorCode::DependencyInvalid;
            return Err(Refusal::cache(code, "K4", "something that it depends on is not there").into());
        }
        let plan = self.graph.check_declare(node, needs)?;
        self.graph.apply_declare(plan);
        Ok(())
    }

    /// All that depends on something (K4).
    pub const fn dependencies(&self) -> &Graph {
        &self.graph
    }

    /// Something failed: so does all that depends on it (K4).
    pub(super) fn invalidate(&mut self, node: Node) {
        if self.graph.edges() == 0 {
            return;
        }
        let reached = self.graph.remove(node);
        self.reach(reached);
    }

    /// A session is gone, and so are its results and its objects (J4).
    pub(super) fn forget_nodes(&mut self, session: u32) {
        for node in self.graph.of_session(session) {
            self.invalidate(node);
        }
    }
}
