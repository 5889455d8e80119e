//! On s2n-quic.

use std::net::SocketAddr;

use s2n_quic::client::{Client, Connect};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls::{Client as ClientTls, Server as ServerTls};
use s2n_quic::{Connection, Server};

use crate::content::{Received, answer, ask};
use crate::{KEEP_ALIVE, Outcome, PATIENCE, any_address, security};

pub async fn serve(address: SocketAddr) -> Outcome<()> {
    let mut server = Server::builder()
        .with_tls(ServerTls::from(security::of_server()?))?
        .with_io(address)?
        .with_limits(limits()?)?
        .start()?;
    while let Some(connection) = server.accept().await {
        tokio::spawn(async move {
            if let Err(error) = served(connection).await {
                eprintln!("quic_rust: {error}");
            }
        });
    }
    Ok(())
}

async fn served(mut connection: Connection) -> Outcome<()> {
    let stream = connection.accept_bidirectional_stream().await?.ok_or("no stream came")?;
    let (from, mut to) = stream.split();
    answer(from, &mut to).await?;
    // Until the client has closed the connection.
    while let Ok(Some(_)) = connection.accept().await {}
    Ok(())
}

pub async fn fetch(address: SocketAddr, size: u64) -> Outcome<()> {
    let mut received = Received::new(size);
    let client = Client::builder()
        .with_tls(ClientTls::from(security::of_client()?))?
        .with_io(any_address(address)?)?
        .with_limits(limits()?)?
        .start()?;
    let mut connection = client.connect(Connect::new(address).with_server_name("server")).await?;
    connection.keep_alive(true)?;
    let (from, mut to) = connection.open_bidirectional_stream().await?.split();
    ask(&mut received, from, &mut to).await?;
    connection.close(0u8.into());
    received.report()
}

fn limits() -> Outcome<Limits> {
    Ok(Limits::new().with_max_idle_timeout(PATIENCE)?.with_max_keep_alive_period(KEEP_ALIVE)?)
}
