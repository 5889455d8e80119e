mod conformance;
mod markov;
mod schedule;
mod trace;
