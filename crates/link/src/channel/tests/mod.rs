mod conformance;
mod markov;
mod reconfiguration;
mod schedule;
mod starlink;
mod trace;
