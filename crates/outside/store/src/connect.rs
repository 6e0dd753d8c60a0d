//! Reads the settings of a store from the environment, and connects to it.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

use crate::StoreError;

/// Each of them gives credentials, or says that none are needed.
const CREDENTIALS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_ENDPOINT_URL"];

/// How a store is reached: for messages.
#[derive(Clone, Debug)]
pub(crate) struct StoreRoute {
    pub(crate) endpoint: String,
    /// Otherwise the machine itself is asked for credentials: those of clouds have some.
    pub(crate) has_credentials: bool,
}

impl StoreRoute {
    pub(crate) fn of_environment() -> Self {
        let set = |name: &&str| env::var(name).ok().filter(|it| !it.is_empty());
        Self {
            endpoint: ENDPOINTS
                .iter()
                .find_map(set)
                .unwrap_or_else(|| "Amazon S3".to_owned()),
            has_credentials: CREDENTIALS.iter().any(|it| set(it).is_some()),
        }
    }

    /// A store that is busy or away for seconds is asked again. Machines that have no credentials are most.
    fn retry(&self) -> RetryConfig {
        RetryConfig {
            max_retries: if self.has_credentials { 8 } else { 2 },
            retry_timeout: Duration::from_secs(120),
            ..RetryConfig::default()
        }
    }

    pub(crate) fn connect(&self, bucket: &str) -> Result<Arc<dyn ObjectStore>, StoreError> {
        let mut builder = AmazonS3Builder::from_env();
        if env::var_os("AWS_TIMEOUT").is_none() {
            // Many parts share the network.
            let key = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
            builder = builder.with_config(key, "2 minutes");
        }
        let store = builder.with_bucket_name(bucket).with_retry(self.retry());
        let store = store
            .build()
            .map_err(|error| StoreError::settings(&error))?;
        Ok(Arc::new(store))
    }
}
