//! What depends on what, as the application declares it (K4). Dependencies of schemas travel by X5.

use super::Connection;
use super::event::Why;
use crate::state::Refusal;
use crate::state::cache::{Graph, Need, Node};
use crate::state::operation::{Found, Named};
use crate::state::schema::Schema;
use crate::{CacheErrorCode, OperationState};

impl Connection {
    /// What depends on what (K4).
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Declares what an object, a result or a runtime object depends on, in place of what it depended on so far (K4).
    /// When one of these fails, so does all that depends on it, and [`Event::Invalidated`](super::Event::Invalidated) names
    /// it. Schemas bring their dependencies with them (X5).
    ///
    /// # Errors
    ///
    /// `dependency_invalid` for what is not there, for what needs itself and for a schema; `limit_exceeded` over
    /// [`Config::graph`](super::Config::graph).
    pub fn depend(&mut self, node: Node, needs: &[Need]) -> Result<(), Why> {
        let named = core::iter::once(&node).chain(needs.iter().map(|need| &need.on));
        let invalid = |why| Refusal::cache(CacheErrorCode::DependencyInvalid, "K4", why);
        if matches!(node, Node::Schema { .. }) {
            return Err(invalid("a schema brings its dependencies with it").into());
        }
        if !named.into_iter().all(|node| self.is_there(node))
            || !needs.iter().all(|need| self.cache.holds(need, self.now))
        {
            return Err(invalid("something that is named is not there").into());
        }
        let plan = self.graph.check_declare(node, needs)?;
        self.graph.apply_declare(plan);
        Ok(())
    }

    fn is_there(&self, node: &Node) -> bool {
        match *node {
            Node::Object(key) => self.cache.get(&key).is_some(),
            Node::Schema { id, version } => self.schemas.get(id, version).is_some_and(Schema::is_live),
            Node::Result { session, operation } => self.lives.get(&session).is_some_and(|live| {
                live.operations.find(Named::operation(operation)).is_ok_and(|found| match found {
                    Found::Live(_) => true,
                    Found::Ended(ended) => ended.state == OperationState::Completed,
                })
            }),
            Node::Runtime { session, object } => {
                self.lives.get(&session).is_some_and(|live| live.objects.get(object).is_some())
            }
        }
    }

    /// Something failed: so does all that depends on it (K4).
    pub(super) fn invalidate(&mut self, node: Node) {
        if self.graph.edges() == 0 {
            return;
        }
        let reached = self.graph.remove(node);
        self.reach(reached);
    }
}
