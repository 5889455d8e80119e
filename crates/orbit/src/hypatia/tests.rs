use super::*;

const TLES: &str = "1 2\n\
    Kuiper-630 0\n\
    1 00001U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    04\n\
    2 00001  51.9000   0.0000 0000001   0.0000   0.0000 14.80000000    02\n\
    Kuiper-630 1\n\
    1 00002U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    05\n\
    2 00002  51.9000   0.0000 0000001   0.0000  10.5882 14.80000000    07\n";
const STATIONS: &str = "0,Manila,14.6042,120.9822,0\n1,Dalian,38.913811,121.602322,0,1.0,2.0,3.0\n";
const LIMITS: &str = "max_gsl_length_m=1260000.0\nmax_isl_length_m=5442958.2\n";

fn read(tles: &str, isls: &str, stations: &str, limits: &str) -> Result<Network, FileError> {
    let text = |file, text| Text { file, text };
    Network::read(
        text("tles.txt", tles),
        text("isls.txt", isls),
        text("ground_stations.txt", stations),
        text("description.txt", limits),
    )
}

fn changes(state: &str) -> Result<Vec<Hop>, FileError> {
    let network = read(TLES, "0 1\n", STATIONS, LIMITS).unwrap();
    network.changes(Text { file: "fstate_0.txt", text: state })
}

#[test]
fn networks_are_read() {
    let network = read(TLES, "0 1\n", STATIONS, LIMITS).unwrap();
    assert_eq!((network.nodes(), network.satellites.len()), (4, 2));
    assert_eq!(network.epoch, Epoch::parse("2000-01-01T00:00:00Z").unwrap());
    assert_eq!(network.stations[1].name, "Dalian");
    assert!(network.is_satellite(1) && !network.is_satellite(2));
    assert!(network.longest_m(0, 1) > network.longest_m(0, 2));
}

#[test]
fn changes_are_read() {
    let hops = changes("2,3,0,0,0\n0,3,1,0,0\n1,3,3,1,0\n3,2,-1,-1,-1\n").unwrap();
    assert_eq!(hops.len(), 4);
    assert_eq!(hops[1], Hop { node: 0, end: 3, next: Some(1) });
    assert_eq!(hops[3], Hop { node: 3, end: 2, next: None });
    // Over a station, as Hypatia's ways without links between satellites go.
    assert_eq!(changes("0,3,2,0,0\n").unwrap()[0].next, Some(2));
}

#[test]
fn wrong_files_are_refused_by_line() {
    let twice = format!("{STATIONS}2,Dalian,1,2,3\n");
    for (result, problem) in [
        (
            read("1\n", "", STATIONS, LIMITS),
            "tles.txt, line 1: has \"1\"; it should have the number of orbits",
        ),
        (
            read(&TLES.replace("1 2\n", "1 3\n"), "", STATIONS, LIMITS),
            "has 2 element sets, but line 1 announces 1 x 3",
        ),
        (
            read(&TLES.replace("630 1", "630 7"), "", STATIONS, LIMITS),
            "line 6: has the name \"Kuiper-630 7\"",
        ),
        (read(&TLES.replace("51.9000", "51.9001"), "", STATIONS, LIMITS), "tles.txt, line 4: "),
        (read(TLES, "1 0\n", STATIONS, LIMITS), "isls.txt, line 1: has \"1 0\""),
        (read(TLES, "0 1\n0 1\n", STATIONS, LIMITS), "isls.txt, line 2: repeats the link \"0 1\""),
        (read(TLES, "", "0,A,95,0,0\n", LIMITS), "ground_stations.txt, line 1: A: latitude 95"),
        (read(TLES, "", "0,A,north,0,0\n", LIMITS), "line 1: has [\"north\""),
        (read(TLES, "", "1,A,5,0,0\n", LIMITS), "it should have 0, name"),
        (read(TLES, "", &twice, LIMITS), "line 3: repeats the name \"Dalian\""),
        (read(TLES, "", "", LIMITS), "contains no stations"),
        (read(TLES, "", STATIONS, "max_gsl_length_m=far\n"), "description.txt, line 1: has"),
        (read(TLES, "", STATIONS, "max_gsl_length_m=1\n"), "has no max_isl_length_m"),
    ] {
        let message = result.map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
    }
    for (state, problem) in [
        ("2,3,0,0\n", "fstate_0.txt, line 1: has \"2,3,0,0\"; it should have node"),
        ("2,3,0,0,0\n4,3,0,0,0\n", "line 2: has node 4 and destination 3; nodes should be below 4"),
        ("2,1,0,0,0\n", "has node 2 and destination 1"),
        ("2,3,3,0,0\n", "has the next hop 3 for node 2; it should be a neighbour"),
        ("0,3,9,0,0\n", "has the next hop 9 for node 0"),
        ("0,3,-2,0,0\n", "has the next hop -2 for node 0"),
    ] {
        let message = changes(state).unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
    }
}
