mod links;
mod router;
