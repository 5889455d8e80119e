//! Checks of pages: what stands beside their objects, their names, and who waits for whom.

use leobench_base::spec::{NAME, SpecError, cut, is_name};
use rustc_hash::FxHashMap;

use super::Place;
use crate::scenario::{
    ApplicationSpec, FlowSpec, HttpVersion, MOST_STREAMS, ObjectSpec, OpenedBy, Streams,
};

/// Checks a flow that says with `objects` what it sends.
pub(super) fn check(
    flow: &FlowSpec,
    objects: &[ObjectSpec],
    at: &Place<'_>,
) -> Result<(), SpecError> {
    if !flow.transport.model().connects() {
        let error = at.key("transport").error("has no connections, which a page needs");
        return Err(error.allowed("a transport with connections, such as `quic`, or no `objects`"));
    }
    beside(flow, at)?;
    let array = at.key("objects");
    if objects.is_empty() {
        return Err(array.error("is empty").allowed("at least one object"));
    }
    names(objects, &array)?;
    order(objects, &array)
}

/// Refuses a version of HTTP, or a number of connections, that the flow cannot have.
pub(super) fn http(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let first = flow.http == Some(HttpVersion::Http1);
    if flow.connections.is_some() && !first {
        let error = at.key("connections").error("applies only to HTTP/1.1");
        return Err(error.allowed("`http = \"1.1\"`, or no `connections`"));
    }
    if flow.http.is_none() {
        return Ok(());
    }
    let http = at.key("http");
    if flow.objects.is_none() {
        let error = http.error("applies only to a page");
        return Err(error.allowed("`objects` or `har`, or no `http`"));
    }
    if !flow.transport.model().chooses_http() {
        let kind = flow.transport.kind();
        let error = http.error(format!("applies only to `tcp`: pages over `{kind}` use HTTP/3"));
        return Err(error.allowed("the transport `tcp`, or no `http`"));
    }
    if first && flow.opened_by == OpenedBy::From {
        let problem = "has the end that requests the page open connections, but the end that sends it opens them";
        return Err(http.error(problem).allowed("`opened_by = \"to\"`, or HTTP/2, `\"2\"`"));
    }
    Ok(())
}

/// Refuses what says something else about the traffic, or makes no sense for a page.
fn beside(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let instead = "either `objects`, or sources";
    let given = [
        ("source", flow.source.is_some(), instead),
        ("video", flow.video.is_some(), "either `objects`, or a `video`"),
        ("call", flow.call.is_some(), "either `objects`, or a `call`"),
        ("streams", flow.streams != Streams::Dealt(1), instead),
        (
            "application",
            flow.application != ApplicationSpec::Buffered,
            "no `application`: objects are requested, not written",
        ),
        ("stop", flow.stop.is_some(), "no `stop`: a page ends with its last object"),
        ("reconnect", flow.reconnect.is_some(), "no `reconnect`: a page keeps its connection"),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        None => Ok(()),
        Some((key, _, allowed)) => {
            Err(at.key(key).error("is given together with `objects`").allowed(allowed))
        }
    }
}

fn names(objects: &[ObjectSpec], array: &Place<'_>) -> Result<(), SpecError> {
    let mut seen = FxHashMap::default();
    let mut count = 0;
    for (index, object) in objects.iter().enumerate() {
        let at = array.index(index);
        if !is_name(&object.name) {
            return Err(at.key("name").error("is not a valid name").allowed(NAME));
        }
        count += u64::from(object.count.get());
        if count > u64::from(MOST_STREAMS) {
            let error = at.key("count").error(format!("makes {count} objects"));
            return Err(error.allowed(format!("at most {MOST_STREAMS} in all")));
        }
        let of_all = (object.count.get() > 1).then(|| object.name.clone());
        for name in of_all.into_iter().chain(object.names()) {
            if let Some(first) = seen.insert(name.clone(), index) {
                let error =
                    at.key("name").error(format!("object {first} is also named `{}`", cut(&name)));
                return Err(error.allowed("a different name for every object"));
            }
        }
    }
    Ok(())
}

/// Refuses objects that wait for what is not there, or in a circle.
fn order(objects: &[ObjectSpec], array: &Place<'_>) -> Result<(), SpecError> {
    let names: Vec<_> = objects.iter().map(|object| object.name.as_str()).collect();
    let numbers: FxHashMap<_, _> =
        names.iter().zip(0..).map(|(name, number)| (*name, number)).collect();
    let mut after: Vec<Vec<usize>> = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let mut known = Vec::new();
        for (position, name) in object.after.iter().enumerate() {
            let (at, key) = (array.index(index), "after");
            let Some(number) = numbers.get(name.as_str()) else {
                return Err(at.key(key).index(position).unknown("object", name, &names));
            };
            known.push(*number);
        }
        after.push(known);
    }
    let Some(circle) = circle(&after) else { return Ok(()) };
    let chain: Vec<_> =
        circle.iter().chain(&circle[..1]).map(|index| format!("`{}`", names[*index])).collect();
    let at = array.index(circle[0]);
    let error = at.key("after").error(format!("waits for itself: {}", chain.join(" after ")));
    Err(error.allowed("objects that do not wait for each other"))
}

/// Members of `after` that wait for each other in a circle, each for the next, from the smallest on; `None` if there is
/// no circle.
pub(in crate::load) fn circle(after: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut left: Vec<_> = after.iter().map(Vec::len).collect();
    let mut awaited_by = vec![Vec::new(); after.len()];
    for (index, others) in after.iter().enumerate() {
        for other in others {
            awaited_by[*other].push(index);
        }
    }
    let mut arrived: Vec<_> = (0..after.len()).filter(|index| left[*index] == 0).collect();
    while let Some(index) = arrived.pop() {
        for waiting in &awaited_by[index] {
            left[*waiting] -= 1;
            if left[*waiting] == 0 {
                arrived.push(*waiting);
            }
        }
    }
    // Whatever is left waits for something that is left: following it ends up in a circle.
    let mut chain = vec![left.iter().position(|count| *count > 0)?];
    loop {
        let next = *after[chain[chain.len() - 1]].iter().find(|other| left[**other] > 0)?;
        if let Some(start) = chain.iter().position(|index| *index == next) {
            let mut circle = chain.split_off(start);
            let smallest = circle.iter().enumerate().min_by_key(|(_, index)| **index)?.0;
            circle.rotate_left(smallest);
            return Some(circle);
        }
        chain.push(next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::circle;

    proptest! {
        /// A circle that is found is one; where none is found, taking away what waits for nothing leaves nothing.
        #[test]
        fn circles_are_found(edges in prop::collection::vec((0usize..8, 0usize..8), 0..12)) {
            let mut after = vec![Vec::new(); 8];
            for (waiting, other) in edges {
                after[waiting].push(other);
            }
            let Some(circle) = circle(&after) else {
                let mut left: Vec<usize> = (0..8).collect();
                for _ in 0..8 {
                    let waits = |index: &usize, left: &[usize]| after[*index].iter().any(|other| left.contains(other));
                    left = left.iter().copied().filter(|index| waits(index, &left)).collect();
                }
                prop_assert!(left.is_empty(), "{:?} in {:?}", left, after);
                return Ok(());
            };
            for (index, member) in circle.iter().enumerate() {
                let next = circle[(index + 1) % circle.len()];
                prop_assert!(after[*member].contains(&next), "{:?} in {:?}", circle, after);
                prop_assert!(circle[0] <= *member && !circle[..index].contains(member), "{:?}", circle);
            }
        }
    }
}
