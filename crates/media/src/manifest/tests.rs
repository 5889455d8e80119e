//! Manifests as encoders write them, and what is wrong with others.

use leobench_base::{BitRate, SimDuration};

use super::read;
use crate::film::Film;

/// A manifest with these attributes of its root, elements above the Representations, and Representations.
fn mpd(root: &str, above: &str, encodings: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" {root}>\n<Period>\n\
         <AdaptationSet contentType=\"audio\"><Representation bandwidth=\"128000\"/></AdaptationSet>\n\
         <AdaptationSet mimeType=\"video/mp4\">\n{above}\n{encodings}\n</AdaptationSet>\n</Period></MPD>"
    )
}

const TWO: &str =
    "<Representation bandwidth=\"3000000\"/>\n<Representation bandwidth=\"1000000\"/>";
const LENGTH: &str = "mediaPresentationDuration=\"PT20S\"";

fn by(template: &str) -> Result<Film, String> {
    problem(&mpd(LENGTH, template, TWO))
}

/// The film of a manifest, or the problem and what is allowed.
fn problem(text: &str) -> Result<Film, String> {
    read("a.mpd", text).map_err(|fault| {
        assert_eq!(fault.field, "manifest");
        format!("{}; allowed: {}", fault.problem, fault.allowed)
    })
}

fn timeline(entries: &str) -> Result<Film, String> {
    by(&format!(
        "<SegmentTemplate timescale=\"1000\"><SegmentTimeline>\n{entries}</SegmentTimeline></SegmentTemplate>"
    ))
}

/// A film of 1 and 3 Mbit/s with lengths in milliseconds.
fn film(length: u64, segment: u64) -> Film {
    let [length, segment] = [length, segment].map(SimDuration::from_millis);
    let ladder = [1_000_000, 3_000_000].map(BitRate::from_bps).into();
    Film { ladder, length, segment }
}

#[test]
fn a_template_with_a_length_is_read() {
    assert_eq!(by("<SegmentTemplate duration=\"4\"/>"), Ok(film(20_000, 4_000)));
    assert_eq!(
        by("<SegmentTemplate duration=\"6006\" timescale=\"1000\"/>"),
        Ok(film(20_000, 6_006))
    );
}

/// A third of a second is no whole number of nanoseconds: sixty of them are 20 ns short of 20 s, and no segment follows.
#[test]
fn rounding_adds_no_segment() {
    let film = by("<SegmentTemplate duration=\"1\" timescale=\"3\"/>").unwrap();
    assert_eq!((film.segments(), film.length.as_nanos()), (60, 19_999_999_980));
    let entry = "<S d=\"1\" r=\"59\"/></SegmentTimeline>";
    let template =
        format!("<SegmentTemplate timescale=\"3\"><SegmentTimeline>{entry}</SegmentTemplate>");
    assert_eq!(by(&template).unwrap().segments(), 60);
}

/// The level above has the attributes that a lower level leaves out (ISO/IEC 23009-1, section 5.3.9.1).
#[test]
fn templates_inherit_from_above() {
    let encodings = "<Representation bandwidth=\"3000000\"><SegmentTemplate duration=\"5000\"/></Representation>\n\
                     <Representation bandwidth=\"1000000\"/>";
    let above = "<SegmentTemplate timescale=\"1000\" duration=\"4000\"/>";
    let same = encodings.replace("5000", "4000");
    assert_eq!(problem(&mpd(LENGTH, above, &same)), Ok(film(20_000, 4_000)));
    let message = "a.mpd, line 8: the segments of a Representation are not those of the one before; allowed: the same segments \
                   for every Representation";
    assert_eq!(problem(&mpd(LENGTH, above, encodings)).unwrap_err(), message);
}

#[test]
fn a_timeline_is_read() {
    assert_eq!(timeline("<S d=\"4000\" r=\"4\"/>"), Ok(film(20_000, 4_000)));
    assert_eq!(
        timeline("<S t=\"700\" d=\"6000\" r=\"2\"/><S d=\"2000\"/>"),
        Ok(film(20_000, 6_000))
    );
    assert_eq!(
        timeline("<S d=\"4000\"/><S t=\"4000\" d=\"4000\" r=\"3\"/>"),
        Ok(film(20_000, 4_000))
    );
    // Up to the next entry, and up to the end of the presentation.
    assert_eq!(
        timeline("<S d=\"6000\" r=\"-1\"/><S t=\"18000\" d=\"2000\"/>"),
        Ok(film(20_000, 6_000))
    );
    assert_eq!(timeline("<S t=\"900\" d=\"4000\" r=\"-1\"/>"), Ok(film(20_000, 4_000)));
    assert_eq!(timeline("<S d=\"3000\" r=\"-1\"/>"), Ok(film(20_000, 3_000)));
    // The sound may be a little longer.
    assert_eq!(timeline("<S d=\"3900\" r=\"4\"/>"), Ok(film(19_500, 3_900)));
}

#[test]
fn other_timelines_are_refused() {
    const ONE_LENGTH: &str = "allowed: segments of one length, of which the last may be shorter";
    for (entries, message) in [
        ("", "6: SegmentTimeline has no S; allowed: an S for each run of segments".to_owned()),
        ("<S d=\"4000\"/>\n<S d=\"4100\"/>", format!("8: segments of 4.1 s after those of 4 s; {ONE_LENGTH}")),
        ("<S d=\"4000\" r=\"2\"/>\n<S d=\"3000\" r=\"1\"/>", format!("8: segments of 3 s after those of 4 s; {ONE_LENGTH}")),
        ("<S d=\"4000\"/>\n<S d=\"3000\"/>\n<S d=\"3000\"/>", format!("9: a segment after a shorter one; {ONE_LENGTH}")),
        (
            "<S d=\"4000\"/>\n<S t=\"4001\" d=\"4000\"/>",
            "8: a segment does not begin where the one before ends; allowed: a timeline without gaps".to_owned(),
        ),
        ("<S d=\"4000\"/>", "6: the segments last 4 s, the presentation 20 s; allowed: a timeline as long as the presentation".to_owned()),
        ("<S/>", "7: S has no d; allowed: the length of a segment above 0".to_owned()),
        ("<S d=\"0\"/>", "7: d=\"0\"; allowed: the length of a segment above 0".to_owned()),
        ("<S t=\"now\" d=\"4000\"/>", "7: t=\"now\"; allowed: a whole number".to_owned()),
        (
            "<S d=\"4000\" r=\"-1\"/><S d=\"4000\"/>",
            "7: r=\"-1\"; allowed: a number of repetitions, or -1 up to the `t` of the next S".to_owned(),
        ),
    ] {
        assert_eq!(timeline(entries).unwrap_err(), format!("a.mpd, line {message}"), "{entries}");
    }
}

#[test]
fn lengths_come_from_the_root_or_the_period() {
    let template = "<SegmentTemplate duration=\"4\"/>";
    let of_period = mpd("", template, TWO).replace("<Period>", "<Period duration=\"PT20S\">");
    assert_eq!(problem(&of_period), Ok(film(20_000, 4_000)));
    let allowed = "allowed: a length of the film, such as mediaPresentationDuration=\"PT9M56.46S\"";
    for (root, message) in [
        ("type=\"static\"", "MPD has no mediaPresentationDuration"),
        ("type=\"dynamic\"", "a live stream, type=\"dynamic\", without mediaPresentationDuration"),
        ("mediaPresentationDuration=\"20 s\"", "mediaPresentationDuration=\"20 s\""),
        ("mediaPresentationDuration=\"PT0S\"", "mediaPresentationDuration=\"PT0S\""),
        (
            "mediaPresentationDuration=\"PT9999999999S\"",
            "mediaPresentationDuration=\"PT9999999999S\"",
        ),
    ] {
        let found = problem(&mpd(root, template, TWO)).unwrap_err();
        assert_eq!(found, format!("a.mpd, line 2: {message}; {allowed}"));
    }
}

#[test]
fn one_video_is_read() {
    let template = "<SegmentTemplate duration=\"4\"/>";
    let whole = mpd(LENGTH, template, TWO);
    let stated = whole.replace(" mimeType=\"video/mp4\"", "");
    let in_parts = stated.replace("00000\"/>", "00000\" mimeType=\"video/webm\"/>");
    assert_eq!(problem(&in_parts), Ok(film(20_000, 4_000)));
    let bandwidth = "allowed: bits per second above 0, such as bandwidth=\"1500000\"";
    let second = "<AdaptationSet contentType=\"video\"/>\n</Period>";
    for (text, message) in [
        (stated, "3: there is no AdaptationSet of video; allowed: one AdaptationSet of video".to_owned()),
        (whole.replace("</Period>", second), "10: the second AdaptationSet of video of 2; allowed: one AdaptationSet of video".to_owned()),
        (whole.replace("</Period>", "</Period><Period/>"), "10: the second Period of 2; allowed: one Period".to_owned()),
        (mpd(LENGTH, template, ""), "5: there is no Representation; allowed: one for each bitrate".to_owned()),
        (whole.replace("3000000", "3M"), format!("7: bandwidth=\"3M\"; {bandwidth}")),
        (whole.replace("3000000", "0"), format!("7: bandwidth=\"0\"; {bandwidth}")),
        (whole.replace(" bandwidth=\"3000000\"", ""), format!("7: Representation has no bandwidth; {bandwidth}")),
        (
            whole.replace("3000000", "1000000"),
            "8: a second Representation of 1 Mbps; allowed: one Representation for each bitrate".to_owned(),
        ),
        (
            mpd(LENGTH, "", TWO),
            "7: Representation has no SegmentTemplate; allowed: a SegmentTemplate with a `duration` or a SegmentTimeline".to_owned(),
        ),
        (
            mpd(LENGTH, "<SegmentTemplate media=\"$Number$\"/>", TWO),
            "6: SegmentTemplate has no duration and no SegmentTimeline; allowed: a SegmentTemplate with a `duration` or a \
             SegmentTimeline"
                .to_owned(),
        ),
    ] {
        assert_eq!(problem(&text).unwrap_err(), format!("a.mpd, line {message}"), "{text}");
    }
}

#[test]
fn other_files_are_refused() {
    let allowed = "a DASH manifest (MPD, ISO/IEC 23009-1) with one period";
    for (text, message) in [
        ("", "a.mpd, line 1: not XML: "),
        ("#EXTM3U\n", "a.mpd, line 1: not XML: "),
        ("<MPD>\n<Period>\n</MPD>", "a.mpd, line 3: not XML: "),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><MPD/>", "a.mpd, line 1: not XML: "),
        (
            "<SmoothStreamingMedia/>",
            "a.mpd, line 1: the root is \"SmoothStreamingMedia\", not MPD; ",
        ),
    ] {
        let found = problem(text).unwrap_err();
        assert!(found.starts_with(message) && found.ends_with(allowed), "{found}");
    }
}
