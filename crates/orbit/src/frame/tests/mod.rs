mod coordinates;
mod epoch;
