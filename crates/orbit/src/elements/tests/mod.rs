mod mean;
mod presets;
