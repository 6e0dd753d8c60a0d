//! The address at which metrics are served.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::str::FromStr;

use anyhow::{Context, bail};

/// A host and a port, as the user wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    /// None for the loopback address.
    host: Option<String>,
    port: u16,
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no address: give PORT or HOST:PORT, such as 9400");
        let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
        let host = match host.strip_prefix('[') {
            Some(inner) => inner.strip_suffix(']').ok_or_else(wrong)?,
            // Two addresses could be meant by one of version 6 without brackets.
            None if host.contains(':') => return Err(wrong()),
            None => host,
        };
        let is_number = port.bytes().all(|it| it.is_ascii_digit());
        let port = port.parse().ok().filter(|_| is_number).ok_or_else(wrong)?;
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:%".contains(it);
        if !host.chars().all(is_plain) {
            return Err(wrong());
        }
        let host = Some(host.to_owned()).filter(|it| !it.is_empty());
        Ok(Self { host, port })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.as_deref() {
            None => write!(out, "127.0.0.1:{}", self.port),
            Some(host) if host.contains(':') => write!(out, "[{host}]:{}", self.port),
            Some(host) => write!(out, "{host}:{}", self.port),
        }
    }
}

impl ListenAddress {
    /// Listens there. What other hosts can reach needs a token.
    pub(super) fn listen(&self, has_token: bool) -> anyhow::Result<TcpListener> {
        let addresses = self.addresses()?;
        let is_own = addresses.iter().all(|it| it.ip().is_loopback());
        if !is_own && !has_token {
            bail!(
                "--metrics {self}: other hosts can reach this address. Give a token with --metrics-token FILE, or use 127.0.0.1"
            );
        }
        TcpListener::bind(&addresses[..])
            .with_context(|| format!("--metrics: cannot listen on {self}"))
    }

    fn addresses(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let Some(host) = self.host.as_deref() else {
            return Ok(vec![(Ipv4Addr::LOCALHOST, self.port).into()]);
        };
        let found = (host, self.port).to_socket_addrs();
        let found = found.with_context(|| format!("--metrics: cannot find the host {host}"))?;
        Ok(found.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_of_the_loopback_address() {
        for (text, shown) in [
            ("9400", "127.0.0.1:9400"),
            (":9400", "127.0.0.1:9400"),
            ("0", "127.0.0.1:0"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::1]:65535", "[::1]:65535"),
            ("node-7.cluster:9400", "node-7.cluster:9400"),
        ] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            ":",
            "host",
            "host:",
            "70000",
            "-1",
            "+1",
            "::1",
            "::1:80",
            "[::1",
            "[::1]80",
            "http://127.0.0.1:80",
            "a b:1",
        ] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_that_others_reach_needs_a_token() {
        let everywhere: ListenAddress = "0.0.0.0:0".parse().unwrap();
        let error = everywhere.listen(false).unwrap_err().to_string();
        assert!(error.contains("--metrics-token"), "{error}");
        assert!(everywhere.listen(true).is_ok());
        let own: ListenAddress = "localhost:0".parse().unwrap();
        assert!(own.listen(false).is_ok());
    }
}
