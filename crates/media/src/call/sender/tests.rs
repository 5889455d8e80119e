//! Sizes of frames, worked out by hand: 30 of them a second at 300 kbit/s have 10,000 bits in the mean, a key frame four times that.

use leobench_base::{RngTree, SimDuration, SimTime};

use super::{Camera, Sender};
use crate::call::packet::Content;
use crate::call::{CallSpec, CameraSpec};

const RATE: f64 = 300_000.0;

fn camera(key_every: Option<SimDuration>) -> Camera {
    let video = CameraSpec { key_every, ..CameraSpec::default() };
    let spec =
        CallSpec { video: Some(video), ..<CallSpec as leobench_base::spec::TableSpec>::example() };
    Sender::new(&spec, SimTime::ZERO, &RngTree::new(1)).camera.unwrap()
}

/// Bits of so many frames; key frames are asked for at these.
fn bits(camera: &mut Camera, frames: u64, asked: &[u64]) -> Vec<u64> {
    let frame = |number: u64| {
        camera.key_asked = asked.contains(&number);
        camera.frame(SimTime::from_nanos(number * 1_000_000_000 / 30), RATE).bytes.bits()
    };
    (0..frames).map(frame).collect()
}

fn mean(bits: &[u64]) -> f64 {
    bits.iter().sum::<u64>() as f64 / bits.len() as f64
}

/// The debt of 30,000 bits is a sixth of the buffer, 0.6 s or 180,000 bits: the next frame has 1/12 less, 9,166.7 bits. Each frame
/// pays back 1/36 of what is left: after 300 of them hardly anything is.
#[test]
fn frames_pay_a_key_frame_back() {
    let mut camera = camera(None);
    let sizes = bits(&mut camera, 300, &[]);
    assert_eq!(sizes[..3], [40_000, 9_168, 9_192]);
    assert!((mean(&sizes) - 10_000.0).abs() < 10.0, "{}", mean(&sizes));
    assert!(sizes[299].abs_diff(10_000) <= 8, "{}", sizes[299]);
}

/// Five key frames in a row leave a debt of 150,000 bits, more than half of the buffer: a frame has a quarter less at most.
#[test]
fn frames_shrink_by_a_quarter_at_most() {
    let sizes = bits(&mut camera(None), 600, &[1, 2, 3, 4]);
    assert_eq!(sizes[4], 40_000);
    assert!(sizes[5..8].iter().all(|size| size.abs_diff(7_500) <= 8), "{:?}", &sizes[5..8]);
    assert!(sizes[5..].is_sorted(), "{sizes:?}");
    assert!((mean(&sizes) - 10_000.0).abs() < 10.0, "{}", mean(&sizes));
}

/// With regular key frames, the others have 30 / 33 of the mean. One that is asked for halfway leaves half of the last one unpaid.
#[test]
fn regular_key_frames_keep_to_the_target() {
    let every = Some(SimDuration::from_secs(1));
    let sizes = bits(&mut camera(every), 300, &[]);
    assert_eq!(sizes[..3], [36_360, 9_088, 9_088]);
    assert!((mean(&sizes) - 10_000.0).abs() < 10.0, "{}", mean(&sizes));
    let sizes = bits(&mut camera(every), 315, &[15]);
    assert!(sizes[16] < 9_088);
    assert!((mean(&sizes) - 10_000.0).abs() < 10.0, "{}", mean(&sizes));
}

/// A key frame that is due after one and a half frames is every second one.
#[test]
fn key_frames_between_two_frames_keep_to_the_target() {
    let sizes = bits(&mut camera(Some(SimDuration::from_millis(50))), 300, &[]);
    assert_eq!(sizes[..4], [16_000, 4_000, 16_000, 4_000]);
    assert!((mean(&sizes) - 10_000.0).abs() < 10.0, "{}", mean(&sizes));
}

/// One of two: every other frame. Frames between, when all are made, do not count.
#[test]
fn every_other_frame_is_dropped() {
    let mut camera = camera(None);
    let intervals = [Some(2), Some(2), None, Some(2), Some(2), Some(3), Some(3)];
    let dropped = intervals.map(|interval| camera.drops(interval));
    assert_eq!(dropped, [true, false, false, true, false, false, false]);
}

/// At 300 kbit/s, the pacer has 10.88 ms for each of the five packets of 1,020 B of a key frame. With `gcc`, they may leave 40 ms before
/// their time: four at once, and the fifth after 4 x 10.88 - 40 ms.
#[test]
fn packets_leave_in_bursts() {
    let spec = CallSpec { audio: None, ..<CallSpec as leobench_base::spec::TableSpec>::example() };
    let mut sender = Sender::new(&spec, SimTime::ZERO, &RngTree::new(1));
    let mut packets = Vec::new();
    for (us, sent) in [(0, 4), (3_519, 4), (3_521, 5)] {
        sender.advance(SimTime::from_nanos(us * 1_000), &mut packets);
        let is_frame = |content: &Content| matches!(content, Content::Frame { .. });
        let frames = packets.iter().filter(|packet| is_frame(&packet.content)).count();
        assert_eq!(frames, sent, "{us} us");
    }
}
