//! On quinn.

use std::net::SocketAddr;
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, Incoming, ServerConfig, TransportConfig};

use crate::content::{Received, answer, ask};
use crate::{KEEP_ALIVE, Outcome, PATIENCE, any_address, security};

pub async fn serve(address: SocketAddr) -> Outcome<()> {
    let crypto = QuicServerConfig::try_from(security::of_server()?)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport()?));
    let endpoint = Endpoint::server(config, address)?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            if let Err(error) = served(incoming).await {
                eprintln!("quic_rust: {error}");
            }
        });
    }
    Ok(())
}

async fn served(incoming: Incoming) -> Outcome<()> {
    let connection = incoming.await?;
    let (mut to, from) = connection.accept_bi().await?;
    answer(from, &mut to).await?;
    connection.closed().await;
    Ok(())
}

pub async fn fetch(address: SocketAddr, size: u64) -> Outcome<()> {
    let mut received = Received::new(size);
    let mut config =
        ClientConfig::new(Arc::new(QuicClientConfig::try_from(security::of_client()?)?));
    let mut transport = transport()?;
    transport.keep_alive_interval(Some(KEEP_ALIVE));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(any_address(address)?)?;
    let connection = endpoint.connect_with(config, address, "server")?.await?;
    let (mut to, from) = connection.open_bi().await?;
    ask(&mut received, from, &mut to).await?;
    connection.close(0u8.into(), b"");
    endpoint.wait_idle().await;
    received.report()
}

fn transport() -> Outcome<TransportConfig> {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(Some(PATIENCE.try_into()?));
    Ok(config)
}
