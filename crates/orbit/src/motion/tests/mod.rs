mod ephemeris;
mod orbit;
mod track;
mod walker;
