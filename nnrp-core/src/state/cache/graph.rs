//! What depends on what (K4, G3).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::ops::RangeInclusive;

use super::Key;
use crate::CacheErrorCode;
use crate::state::Refusal;

/// Something that others depend on, or that depends on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A cache object.
    Object(Key),
    /// A version of a schema.
    Schema {
        /// Which schema.
        id: u32,
        /// Which version.
        version: u32,
    },
    /// The result of an operation.
    Result {
        /// Its session.
        session: u32,
        /// The operation.
        operation: u64,
    },
    /// A runtime object.
    Runtime {
        /// Its session.
        session: u32,
        /// The object.
        object: u64,
    },
}

/// One dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// What is needed.
    pub on: Node,
    /// Which version of it; 0 for whichever there is.
    pub version: u64,
}

impl Need {
    /// A dependency on whichever version there is.
    pub const fn any(on: Node) -> Self {
        Self { on, version: 0 }
    }
}

/// How large a graph may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLimits {
    /// Dependencies of one thing.
    pub per_node: usize,
    /// Dependencies in all.
    pub edges: usize,
}

impl Default for GraphLimits {
    fn default() -> Self {
        Self { per_node: 64, edges: 65_536 }
    }
}

#[derive(Clone, Debug, Default)]
struct Links {
    on: Vec<Need>,
    /// Who needs this, and in which version.
    by: BTreeSet<(Node, u64)>,
}

/// The dependencies of everything on a connection.
///
/// Only things with dependencies stand in it. When one of them goes, all that needs it, directly or not, is named
/// once, also in a cycle, and loses its place: a dependency that failed once stays failed until it is declared
/// again.
///
/// ```
/// use nnrp_core::state::cache::{Graph, Need, Node};
///
/// let schema = |id| Node::Schema { id, version: 1 };
/// let mut graph = Graph::default();
/// for (one, other) in [(2, 1), (3, 2), (1, 3)] {
///     let plan = graph.check_declare(schema(one), &[Need::any(schema(other))]).unwrap();
///     graph.apply_declare(plan);
/// }
/// assert_eq!(graph.remove(schema(1)), [schema(2), schema(3)]);
/// assert_eq!(graph.edges(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    limits: GraphLimits,
    nodes: BTreeMap<Node, Links>,
    edges: usize,
}

/// Dependencies that may be declared.
#[derive(Clone, Debug)]
#[must_use]
pub struct DeclarePlan {
    node: Node,
    needs: Vec<Need>,
}

impl Graph {
    /// An empty graph.
    pub const fn new(limits: GraphLimits) -> Self {
        Self { limits, nodes: BTreeMap::new(), edges: 0 }
    }

    /// Dependencies in all.
    pub const fn edges(&self) -> usize {
        self.edges
    }

    /// What something depends on (K4: observable).
    pub fn needs(&self, node: Node) -> &[Need] {
        self.nodes.get(&node).map_or(&[], |links| &links.on)
    }

    /// What depends on something directly.
    pub fn dependents(&self, node: Node) -> impl Iterator<Item = Node> {
        self.nodes.get(&node).into_iter().flat_map(|links| links.by.iter().map(|(by, _)| *by))
    }

    /// Checks the dependencies of something; they take the place of those that it had. Whether what is needed is
    /// there is for its own module to say.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` over the limits, `dependency_invalid` for something that needs itself.
    pub fn check_declare(&self, node: Node, needs: &[Need]) -> Result<DeclarePlan, Refusal> {
        if needs.len() > self.limits.per_node {
            return Err(Refusal::limit("K4", "too many dependencies").about(needs.len() as u64));
        }
        let mut needs = needs.to_vec();
        needs.sort_unstable();
        needs.dedup();
        if needs.iter().any(|need| need.on == node) {
            return Err(Refusal::cache(CacheErrorCode::DependencyInvalid, "K4", "it depends on itself"));
        }
        let others = self.edges.saturating_sub(self.needs(node).len());
        if others.saturating_add(needs.len()) > self.limits.edges {
            return Err(Refusal::limit("K4", "there are too many dependencies in all"));
        }
        Ok(DeclarePlan { node, needs })
    }

    /// Declares them.
    pub fn apply_declare(&mut self, plan: DeclarePlan) {
        self.cut(plan.node);
        for need in &plan.needs {
            self.nodes.entry(need.on).or_default().by.insert((plan.node, need.version));
        }
        self.edges = self.edges.saturating_add(plan.needs.len());
        if !plan.needs.is_empty() {
            self.nodes.entry(plan.node).or_default().on = plan.needs;
        }
    }

    /// Something is gone or no longer valid. Gives all that depended on it, each once.
    pub fn remove(&mut self, node: Node) -> Vec<Node> {
        self.cut(node);
        self.spread(node, |_| true)
    }

    /// Something has another version now. Gives all that depended on a different one, each once.
    pub fn change(&mut self, node: Node, version: u64) -> Vec<Node> {
        self.spread(node, |wanted| wanted != 0 && wanted != version)
    }

    /// A session is gone. Its runtime objects are gone with it, and all that depended on them; gives that. Its results
    /// stand, and what depends on them depends on nothing there any more, as another session may have that id next.
    pub fn end_session(&mut self, session: u32) -> Vec<Node> {
        let results = Node::Result { session, operation: 0 }..=Node::Result { session, operation: u64::MAX };
        for result in self.within(results) {
            self.cut(result);
            let by = self.nodes.remove(&result).map(|links| links.by).unwrap_or_default();
            for (dependent, _) in by {
                if let Some(links) = self.nodes.get_mut(&dependent) {
                    let before = links.on.len();
                    links.on.retain(|need| need.on != result);
                    self.edges = self.edges.saturating_sub(before.saturating_sub(links.on.len()));
                    if links.on.is_empty() && links.by.is_empty() {
                        self.nodes.remove(&dependent);
                    }
                }
            }
        }
        let objects = Node::Runtime { session, object: 0 }..=Node::Runtime { session, object: u64::MAX };
        self.within(objects).into_iter().flat_map(|object| self.remove(object)).collect()
    }

    fn within(&self, nodes: RangeInclusive<Node>) -> Vec<Node> {
        self.nodes.range(nodes).map(|(node, _)| *node).collect()
    }

    /// Walks without recursion. Whoever is reached loses its own dependencies, so nobody is reached twice.
    fn spread(&mut self, root: Node, hit: impl Fn(u64) -> bool) -> Vec<Node> {
        let mut reached = Vec::new();
        let mut waiting: Vec<Node> = match self.nodes.get(&root) {
            Some(links) => links.by.iter().filter(|(_, version)| hit(*version)).map(|(by, _)| *by).collect(),
            None => return reached,
        };
        // By their order, and depth last, so that the answer does not depend on how the graph grew.
        let mut next = 0;
        waiting.dedup();
        for node in &waiting {
            self.cut(*node);
        }
        while let Some(node) = waiting.get(next).copied() {
            next += 1;
            if node != root {
                reached.push(node);
            }
            let by: Vec<Node> = match self.nodes.get(&node) {
                Some(links) if node != root => links.by.iter().map(|(by, _)| *by).collect(),
                _ => continue,
            };
            for dependent in by {
                if self.nodes.get(&dependent).is_some_and(|links| !links.on.is_empty()) {
                    self.cut(dependent);
                    waiting.push(dependent);
                }
            }
        }
        reached
    }

    /// Takes away what a node depends on, and places that nobody needs any more.
    fn cut(&mut self, node: Node) {
        let Some(links) = self.nodes.get_mut(&node) else { return };
        let needs = core::mem::take(&mut links.on);
        if links.by.is_empty() {
            self.nodes.remove(&node);
        }
        self.edges = self.edges.saturating_sub(needs.len());
        for need in needs {
            if let Some(links) = self.nodes.get_mut(&need.on) {
                links.by.remove(&(node, need.version));
                if links.by.is_empty() && links.on.is_empty() {
                    self.nodes.remove(&need.on);
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }
}
