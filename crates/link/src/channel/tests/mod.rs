mod conformance;
mod markov;
mod reconfiguration;
mod schedule;
mod trace;
