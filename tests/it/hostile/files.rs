//! Files that were made to harm their reader.
