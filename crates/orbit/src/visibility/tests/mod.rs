mod observer;
mod passes;
mod view;
