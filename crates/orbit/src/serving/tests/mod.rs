mod chain;
mod fleet;
mod handovers;
mod policies;
