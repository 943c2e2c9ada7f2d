use super::*;
use crate::state::random::{Random, steps};
use std::collections::BTreeMap;
use std::vec::Vec;

fn node(id: u64) -> Node {
    Node::Schema { id: id as u32, version: 1 }
}

fn link(graph: &mut Graph, id: u64, needs: &[u64]) {
    let needs: Vec<Need> = needs.iter().map(|id| Need::any(node(*id))).collect();
    let plan = graph.check_declare(node(id), &needs).unwrap();
    graph.apply_declare(plan);
}

#[test]
fn k4_everything_that_depends_is_reached_once_also_in_a_cycle() {
    let mut graph = Graph::default();
    // A diamond over a cycle, and one that is not concerned.
    link(&mut graph, 2, &[1]);
    link(&mut graph, 3, &[1]);
    link(&mut graph, 4, &[2, 3]);
    link(&mut graph, 5, &[4, 6]);
    link(&mut graph, 6, &[5]);
    link(&mut graph, 8, &[7]);
    let mut reached = graph.remove(node(1));
    reached.sort();
    assert_eq!(reached, [2, 3, 4, 5, 6].map(node));
    assert_eq!((graph.edges(), graph.len()), (1, 2));
    assert_eq!(graph.remove(node(1)), []);
}

#[test]
fn k4_a_cycle_does_not_reach_what_was_named() {
    let mut graph = Graph::default();
    link(&mut graph, 1, &[2]);
    link(&mut graph, 2, &[1]);
    assert_eq!(graph.remove(node(1)), [node(2)]);
    assert_eq!((graph.edges(), graph.len()), (0, 0));
}

#[test]
fn k4_dependencies_can_be_seen() {
    let mut graph = Graph::default();
    link(&mut graph, 3, &[2, 1, 1]);
    assert_eq!(graph.needs(node(3)), [Need::any(node(1)), Need::any(node(2))]);
    assert_eq!(graph.dependents(node(1)).collect::<Vec<_>>(), [node(3)]);
    // Declaring again takes the place of it.
    link(&mut graph, 3, &[2]);
    assert_eq!((graph.dependents(node(1)).count(), graph.edges()), (0, 1));
    link(&mut graph, 3, &[]);
    assert_eq!((graph.edges(), graph.len()), (0, 0));
}

#[test]
fn k4_who_needs_two_versions_is_reached_once() {
    let mut graph = Graph::default();
    let needs = [0, 1, 2].map(|version| Need { on: node(1), version });
    let plan = graph.check_declare(node(2), &needs).unwrap();
    graph.apply_declare(plan);
    assert_eq!(graph.remove(node(1)), [node(2)]);
}

#[test]
fn k4_nothing_depends_on_itself() {
    let graph = Graph::default();
    let refusal = graph.check_declare(node(1), &[Need::any(node(1))]).unwrap_err();
    assert_eq!((refusal.code.raw(), refusal.rule), (CacheErrorCode::DependencyInvalid.raw(), "K4"));
}

#[test]
fn k1_a_new_version_breaks_who_needs_another_one() {
    let mut graph = Graph::default();
    for (id, version) in [(2, 1), (3, 2), (4, 0)] {
        let plan = graph.check_declare(node(id), &[Need { on: node(1), version }]).unwrap();
        graph.apply_declare(plan);
    }
    link(&mut graph, 5, &[2]);
    assert_eq!(graph.change(node(1), 2), [node(2), node(5)]);
    assert_eq!(graph.edges(), 2);
}

#[test]
fn k4_hostile_dependency_counts_are_refused_and_a_long_chain_needs_no_recursion() {
    let mut graph = Graph::new(GraphLimits { per_node: 64, edges: 300_000 });
    let many: Vec<Need> = (1..=65).map(|id| Need::any(node(id))).collect();
    assert_eq!(graph.check_declare(node(0), &many).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    for id in 1..300_000 {
        link(&mut graph, id, &[id - 1]);
    }
    link(&mut graph, 0, &[299_999]);
    let refusal = graph.check_declare(node(300_001), &[Need::any(node(1))]).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::LIMIT_EXCEEDED);
    assert_eq!(graph.remove(node(0)).len(), 299_999);
    assert_eq!((graph.edges(), graph.len()), (0, 0));
}

/// Against closing over the edges again and again until nothing changes.
#[test]
fn model_reaches_what_a_slow_walk_reaches() {
    let mut random = Random::new(4);
    let mut graph = Graph::default();
    let mut model: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for _ in 0..steps(20_000) {
        let id = random.below(24);
        if random.chance(4) {
            let mut gone = Vec::new();
            model.remove(&id);
            let mut roots = Vec::from([id]);
            while let Some(root) = roots.pop() {
                let hit: Vec<u64> =
                    model.iter().filter(|(_, needs)| needs.contains(&root)).map(|(id, _)| *id).collect();
                for id in hit {
                    model.remove(&id);
                    gone.push(node(id));
                    roots.push(id);
                }
            }
            gone.sort();
            let mut reached = graph.remove(node(id));
            reached.sort();
            assert_eq!(reached, gone);
        } else {
            let mut needs: Vec<u64> =
                (0..random.below(4)).map(|_| random.below(24)).filter(|to| *to != id).collect();
            needs.sort();
            needs.dedup();
            link(&mut graph, id, &needs);
            if needs.is_empty() {
                model.remove(&id);
            } else {
                model.insert(id, needs);
            }
        }
        assert_eq!(graph.edges(), model.values().map(Vec::len).sum::<usize>());
    }
}

#[test]
fn k4_j4_the_end_of_a_session_fails_its_objects_and_forgets_its_results() {
    let mut graph = Graph::default();
    let result = |session, operation| Node::Result { session, operation };
    let runtime = |session, object| Node::Runtime { session, object };
    let needs: [(Node, &[Node]); 5] = [
        (node(1), &[result(7, 1), result(8, 1)]),
        (node(2), &[result(7, 1)]),
        (node(3), &[runtime(7, 1)]),
        (node(4), &[node(3), runtime(8, 1)]),
        (result(7, 2), &[runtime(7, u64::MAX), node(9)]),
    ];
    for (one, on) in needs {
        let on: Vec<Need> = on.iter().map(|on| Need::any(*on)).collect();
        graph.apply_declare(graph.check_declare(one, &on).unwrap());
    }
    assert_eq!(graph.end_session(7), [node(3), node(4)]);
    // What depended on a result of its stands, and only on what is left.
    assert_eq!(graph.needs(node(1)), [Need::any(result(8, 1))]);
    assert_eq!((graph.edges(), graph.len()), (1, 2));
    assert_eq!(graph.remove(result(7, 1)), []);
    assert_eq!(graph.remove(result(8, 1)), [node(1)]);
    assert_eq!((graph.edges(), graph.len()), (0, 0));
}
