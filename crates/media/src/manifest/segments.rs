//! The segments of a manifest: those of a `SegmentTemplate`, by a length or by a `SegmentTimeline`.

use leobench_base::SimDuration;
use leobench_base::spec::{Fault, quoted};
use roxmltree::Node;

use super::{Manifest, children};

const TEMPLATE: &str = "SegmentTemplate";
const TIMELINE: &str = "SegmentTimeline";
const EITHER: &str = "a SegmentTemplate with a `duration` or a SegmentTimeline";
const ONE_LENGTH: &str = "segments of one length, of which the last may be shorter";

/// Segments that follow each other, in units of the timescale.
#[derive(Clone, Copy, Debug)]
struct Run {
    count: u128,
    /// Lengths of all but the last, and of the last.
    each: u128,
    last: u128,
    /// Time at which they end.
    end: u128,
}

impl<'a> Manifest<'a> {
    /// Lengths of the film and of a segment, the same for every Representation.
    pub(super) fn cut(
        &self,
        above: [Node<'a, 'a>; 2],
        encodings: &[Node<'a, 'a>],
        presented: SimDuration,
    ) -> Result<[SimDuration; 2], Fault> {
        let [period, set] = above;
        let mut first = None;
        for encoding in encodings {
            // A level inherits what it leaves out from the level above (section 5.3.9.1).
            let levels = [*encoding, set, period];
            let templates: Vec<_> =
                levels.into_iter().filter_map(|level| children(level, TEMPLATE).next()).collect();
            let found = self.cut_by(*encoding, &templates, presented)?;
            if found != *first.get_or_insert(found) {
                let problem = "the segments of a Representation are not those of the one before";
                return Err(self.fault(
                    *encoding,
                    problem,
                    "the same segments for every Representation",
                ));
            }
        }
        Ok(first.unwrap_or([presented; 2]))
    }

    fn cut_by(
        &self,
        encoding: Node<'a, 'a>,
        templates: &[Node<'a, 'a>],
        presented: SimDuration,
    ) -> Result<[SimDuration; 2], Fault> {
        let number = |name: &str| {
            let given = templates.iter().find(|template| template.has_attribute(name));
            let allowed = "a whole number above 0";
            given.map_or(Ok(None), |template| self.number(*template, name, allowed))
        };
        let Some(template) = templates.first() else {
            return Err(self.missing(encoding, TEMPLATE, EITHER));
        };
        let timescale = number("timescale")?.unwrap_or(1);
        let timeline = templates.iter().find_map(|template| children(*template, TIMELINE).next());
        if let Some(timeline) = timeline {
            return self.cut_on(timeline, timescale, presented);
        }
        let Some(duration) = number("duration")? else {
            return Err(self.missing(*template, "duration and no SegmentTimeline", EITHER));
        };
        // In whole units, as rounding to nanoseconds may add a segment.
        let segments = (u128::from(presented.as_nanos()) * u128::from(timescale))
            .div_ceil(u128::from(duration) * 1_000_000_000);
        let segment = time(duration.into(), timescale);
        Ok([presented.min(times(segment, segments)), segment])
    }

    /// The same by a timeline, whose own length is the film's: that of the presentation may be the sound's.
    fn cut_on(
        &self,
        timeline: Node<'a, 'a>,
        timescale: u64,
        presented: SimDuration,
    ) -> Result<[SimDuration; 2], Fault> {
        let entries: Vec<_> = children(timeline, "S").collect();
        let Some(first) = entries.first() else {
            return Err(self.missing(timeline, "S", "an S for each run of segments"));
        };
        let begin = self.start(*first)?.unwrap_or(0);
        let units = u128::from(presented.as_nanos()) * u128::from(timescale) / 1_000_000_000;
        let mut run = Run { count: 0, each: 0, last: 0, end: begin };
        for (index, entry) in entries.iter().enumerate() {
            let next = match entries.get(index + 1) {
                Some(next) => self.start(*next)?,
                None => Some(begin + units),
            };
            self.add(&mut run, *entry, next, timescale)?;
        }
        let [segment, last] = [run.each, run.last].map(|units| time(units, timescale));
        let length = times(segment, run.count - 1) + last;
        // The last repetition up to the end of the presentation may be cut off by it.
        let to_end = entries.last().and_then(|entry| entry.attribute("r"));
        let to_end = to_end.is_some_and(|text| text.trim_start().starts_with('-'));
        let length = if to_end { length.min(presented) } else { length };
        let apart = length.saturating_sub(presented).max(presented.saturating_sub(length));
        if apart >= segment {
            let problem = format!("the segments last {length}, the presentation {presented}");
            return Err(self.fault(timeline, problem, "a timeline as long as the presentation"));
        }
        Ok([length, segment])
    }

    /// Adds the segments of an entry; `next` is where those of the next begin, if that is known.
    fn add(
        &self,
        run: &mut Run,
        entry: Node<'a, 'a>,
        next: Option<u128>,
        timescale: u64,
    ) -> Result<(), Fault> {
        let allowed = "the length of a segment above 0";
        let length = self.number(entry, "d", allowed)?;
        let length = u128::from(length.ok_or_else(|| self.missing(entry, "d", allowed))?);
        if self.start(entry)?.is_some_and(|start| start != run.end) {
            let problem = "a segment does not begin where the one before ends";
            return Err(self.fault(entry, problem, "a timeline without gaps"));
        }
        let count = self.count(entry, length, run.end, next)?;
        let each = if run.count == 0 { length } else { run.each };
        let is_over = run.count > 0 && run.last < each;
        if is_over || length > each || (length < each && count > 1) {
            let [length, each] = [length, each].map(|units| time(units, timescale));
            let problem = format!("segments of {length} after those of {each}");
            let problem = if is_over { "a segment after a shorter one" } else { &problem };
            return Err(self.fault(entry, problem, ONE_LENGTH));
        }
        let (count, end) = (run.count + count, run.end + length * count);
        *run = Run { count, each, last: length, end };
        Ok(())
    }

    /// How many segments an entry has: one and its repetitions, which go on to the next entry if `r` is negative.
    fn count(
        &self,
        entry: Node<'a, 'a>,
        length: u128,
        begin: u128,
        next: Option<u128>,
    ) -> Result<u128, Fault> {
        let Some(text) = entry.attribute("r") else { return Ok(1) };
        match (text.trim().parse::<i32>(), next) {
            (Ok(repetitions @ 0..), _) => Ok(repetitions as u128 + 1),
            (Ok(_), Some(next)) if next > begin => Ok((next - begin).div_ceil(length)),
            _ => {
                let allowed = "a number of repetitions, or -1 up to the `t` of the next S";
                Err(self.fault(entry, format!("r={}", quoted(text)), allowed))
            }
        }
    }

    /// The time at which the segments of an entry begin, if it states one.
    fn start(&self, entry: Node<'a, 'a>) -> Result<Option<u128>, Fault> {
        let Some(text) = entry.attribute("t") else { return Ok(None) };
        let number = text.trim().parse::<u64>().map(|start| Some(start.into()));
        number.map_err(|_| self.fault(entry, format!("t={}", quoted(text)), "a whole number"))
    }
}

/// So many times a time, or the longest there is.
fn times(time: SimDuration, count: u128) -> SimDuration {
    let nanos = u128::from(time.as_nanos()).saturating_mul(count);
    SimDuration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The time of so many units of a timescale, to the nearest nanosecond.
fn time(units: u128, timescale: u64) -> SimDuration {
    let timescale = u128::from(timescale);
    let nanos = (units * 1_000_000_000 + timescale / 2) / timescale;
    SimDuration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
