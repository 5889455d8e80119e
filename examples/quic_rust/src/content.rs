//! The content of a stream: random bytes and their digest.

use std::time::Instant;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::Outcome;

const CHUNK: usize = 64 * 1024;

/// The content that a server sends: random bytes, then their digest.
pub struct Content {
    left: u64,
    digest: Option<Sha256>,
}

impl Content {
    pub fn new(size: u64) -> Self {
        Self { left: size, digest: Some(Sha256::new()) }
    }

    /// The next piece; `None` after the last one.
    pub fn next(&mut self) -> Outcome<Option<Vec<u8>>> {
        let Some(digest) = &mut self.digest else { return Ok(None) };
        if self.left == 0 {
            return Ok(self.digest.take().map(|digest| digest.finalize().to_vec()));
        }
        let mut piece = vec![0; CHUNK.min(usize::try_from(self.left).unwrap_or(CHUNK))];
        getrandom::fill(&mut piece).map_err(|error| error.to_string())?;
        digest.update(&piece);
        self.left -= piece.len() as u64;
        Ok(Some(piece))
    }
}

/// The content that a client receives, and how long it took.
pub struct Received {
    began: Instant,
    size: u64,
    got: u64,
    took: f64,
    digest: Sha256,
    said: Vec<u8>,
}

impl Received {
    /// Begins before the handshake.
    pub fn new(size: u64) -> Self {
        Self {
            began: Instant::now(),
            size,
            got: 0,
            took: 0.0,
            digest: Sha256::new(),
            said: Vec::new(),
        }
    }

    pub fn take(&mut self, piece: &[u8]) {
        let left = usize::try_from(self.size - self.got).unwrap_or(usize::MAX).min(piece.len());
        let (content, said) = piece.split_at(left);
        self.digest.update(content);
        self.said.extend_from_slice(said);
        self.got += content.len() as u64;
        if left > 0 && self.got == self.size {
            self.took = self.began.elapsed().as_secs_f64();
        }
    }

    /// Compares the digests, and prints the result.
    pub fn report(self) -> Outcome<()> {
        if self.got != self.size || self.digest.finalize().as_slice() != self.said {
            return Err(
                format!("{} of {} bytes came, or another digest", self.got, self.size).into()
            );
        }
        let goodput = self.size as f64 * 8e-6 / self.took;
        println!(
            "{{\"bytes\": {}, \"seconds\": {}, \"goodput_mbps\": {goodput}}}",
            self.size, self.took
        );
        Ok(())
    }
}

/// Sends what a stream asks for.
pub async fn answer(
    mut from: impl AsyncRead + Unpin,
    to: &mut (impl AsyncWrite + Unpin),
) -> Outcome<()> {
    let mut content = Content::new(from.read_u64().await?);
    while let Some(piece) = content.next()? {
        to.write_all(&piece).await?;
    }
    Ok(to.shutdown().await?)
}

/// Asks for content, and receives it.
pub async fn ask(
    received: &mut Received,
    mut from: impl AsyncRead + Unpin,
    to: &mut (impl AsyncWrite + Unpin),
) -> Outcome<()> {
    to.write_u64(received.size).await?;
    to.shutdown().await?;
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer).await? {
            0 => return Ok(()),
            length => received.take(&buffer[..length]),
        }
    }
}
