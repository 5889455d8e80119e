//! DASH manifests: the media presentation description (MPD) of ISO/IEC 23009-1, as far as it tells bitrates and segments.

mod duration;
mod segments;

use leobench_base::spec::{Fault, quoted, sentence};
use leobench_base::{BitRate, SimDuration};
use roxmltree::{Document, Node};

use crate::film::Film;

/// The key under which a scenario names a manifest, and which faults of one name.
pub const MANIFEST: &str = "manifest";

/// Description of a right file, for messages.
const MPD: &str = "a DASH manifest (MPD, ISO/IEC 23009-1) with one period";

/// The largest number in an attribute: more bits, or parts of a second, than anything has.
const LARGEST: u64 = 1_000_000_000_000_000;

/// The longest film, of the largest quantities of a scenario: 114 years.
const LONGEST: SimDuration = SimDuration::from_secs(1_000_000_000);

/// Reads the film of a manifest: the text of the file `name`.
///
/// # Errors
/// The first thing in it that is wrong, or beyond one film in segments of one length.
pub(crate) fn read(name: &str, text: &str) -> Result<Film, Fault> {
    let document = Document::parse(text).map_err(|error| {
        let problem = format!("{name}, line {}: not XML: {error}", error.pos().row);
        Fault::new(MANIFEST, sentence(&problem), MPD)
    })?;
    Manifest { name, document: &document }.film()
}

/// A manifest in a file.
struct Manifest<'a> {
    name: &'a str,
    document: &'a Document<'a>,
}

impl<'a> Manifest<'a> {
    fn film(&self) -> Result<Film, Fault> {
        let root = self.document.root_element();
        if !root.has_tag_name("MPD") {
            let problem = format!("the root is {}, not MPD", quoted(root.tag_name().name()));
            return Err(self.fault(root, problem, MPD));
        }
        let period = self.only(root, &children(root, "Period").collect::<Vec<_>>(), "Period")?;
        let sets: Vec<_> = children(period, "AdaptationSet").filter(is_video).collect();
        let set = self.only(period, &sets, "AdaptationSet of video")?;
        let encodings: Vec<_> = children(set, "Representation").collect();
        let ladder = self.ladder(set, &encodings)?;
        let presented = self.length(root, period)?;
        let [length, segment] = self.cut([period, set], &encodings, presented)?;
        Ok(Film { ladder, length, segment })
    }

    /// The one element that there is to be of its kind.
    fn only(
        &self,
        parent: Node<'a, 'a>,
        found: &[Node<'a, 'a>],
        kind: &str,
    ) -> Result<Node<'a, 'a>, Fault> {
        match *found {
            [only] => Ok(only),
            [] => Err(self.fault(parent, format!("there is no {kind}"), format!("one {kind}"))),
            [_, second, ..] => {
                let problem = format!("the second {kind} of {}", found.len());
                Err(self.fault(second, problem, format!("one {kind}")))
            }
        }
    }

    /// The bitrates, from the lowest.
    fn ladder(&self, set: Node<'a, 'a>, encodings: &[Node<'a, 'a>]) -> Result<Vec<BitRate>, Fault> {
        if encodings.is_empty() {
            return Err(self.fault(set, "there is no Representation", "one for each bitrate"));
        }
        let mut ladder = Vec::new();
        for (number, encoding) in encodings.iter().enumerate() {
            let allowed = "bits per second above 0, such as bandwidth=\"1500000\"";
            let bps = self.number(*encoding, "bandwidth", allowed)?;
            let bps = bps.ok_or_else(|| self.missing(*encoding, "bandwidth", allowed))?;
            ladder.push((BitRate::from_bps(bps), number));
        }
        ladder.sort_unstable();
        if let Some(pair) = ladder.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (rate, second) = pair[1];
            let problem = format!("a second Representation of {rate}");
            return Err(self.fault(
                encodings[second],
                problem,
                "one Representation for each bitrate",
            ));
        }
        Ok(ladder.into_iter().map(|(rate, _)| rate).collect())
    }

    /// How long the presentation is.
    fn length(&self, root: Node<'a, 'a>, period: Node<'a, 'a>) -> Result<SimDuration, Fault> {
        const ALLOWED: &str =
            "a length of the film, such as mediaPresentationDuration=\"PT9M56.46S\"";
        let places = [(root, "mediaPresentationDuration"), (period, "duration")];
        let given =
            places.into_iter().find_map(|(node, name)| Some((node, name, node.attribute(name)?)));
        let Some((node, name, text)) = given else {
            let problem = match root.attribute("type") {
                Some("dynamic") => {
                    "a live stream, type=\"dynamic\", without mediaPresentationDuration"
                }
                _ => "MPD has no mediaPresentationDuration",
            };
            return Err(self.fault(root, problem, ALLOWED));
        };
        match duration::parse(text) {
            Some(length) if !length.is_zero() && length <= LONGEST => Ok(length),
            _ => Err(self.fault(node, format!("{name}={}", quoted(text)), ALLOWED)),
        }
    }

    /// A whole number above 0 in an attribute.
    fn number(&self, node: Node<'a, 'a>, name: &str, allowed: &str) -> Result<Option<u64>, Fault> {
        let Some(text) = node.attribute(name) else { return Ok(None) };
        let number = text.trim().parse().ok().filter(|number| (1..=LARGEST).contains(number));
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.fault(node, format!("{name}={}", quoted(text)), allowed)),
        }
    }

    fn missing(&self, node: Node<'a, 'a>, name: &str, allowed: &str) -> Fault {
        self.fault(node, format!("{} has no {name}", node.tag_name().name()), allowed)
    }

    /// A fault in the line of a node.
    fn fault(
        &self,
        node: Node<'a, 'a>,
        problem: impl AsRef<str>,
        allowed: impl Into<String>,
    ) -> Fault {
        let line = self.document.text_pos_at(node.range().start).row;
        Fault::new(MANIFEST, format!("{}, line {line}: {}", self.name, problem.as_ref()), allowed)
    }
}

/// The children of a node with this name, whatever its namespace.
fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// Whether an `AdaptationSet` is of video, as it or its Representations state.
fn is_video(set: &Node<'_, '_>) -> bool {
    let states = |node: Node<'_, '_>| {
        node.attribute("contentType") == Some("video")
            || node.attribute("mimeType").is_some_and(|mime| mime.starts_with("video/"))
    };
    states(*set) || set.children().any(states)
}

#[cfg(test)]
mod tests;
