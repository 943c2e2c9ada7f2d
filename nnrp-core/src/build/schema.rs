//! Schema descriptors (B10).

use alloc::vec::Vec;

use crate::wire::{Fault, FaultKind, Packed, Site, WriteError};
use crate::{SchemaDependency, SchemaDescriptor, SchemaDescriptorHeader};

/// More dependencies than the header can count.
const TOO_MANY: Fault = Fault::new(
    &Site::rule("schema_descriptor_header", "dependency_count", "B10.1", ""),
    SchemaDescriptorHeader::DEPENDENCY_COUNT_OFFSET as u32,
    FaultKind::Length,
);

/// A body of more bytes than the header can declare.
const TOO_LARGE: Fault = Fault::new(
    &Site::rule("schema_descriptor_header", "body_bytes", "B10.1", ""),
    SchemaDescriptorHeader::BODY_BYTES_OFFSET as u32,
    FaultKind::Length,
);

/// Writes a schema descriptor: header, dependencies, and what its profile puts behind them.
///
/// ```
/// use nnrp_core::build::Schema;
/// use nnrp_core::{ProfileId, SchemaDependency, SchemaDescriptor, SchemaDescriptorHeader};
///
/// # fn main() -> Result<(), nnrp_core::wire::Fault> {
/// let header = SchemaDescriptorHeader {
///     schema_id: 0x0001_0001,
///     schema_version: 1,
///     profile_id: ProfileId::TOKEN,
///     ..SchemaDescriptorHeader::default()
/// };
/// let base = SchemaDependency { schema_id: 0x1001, schema_version: 3, ..SchemaDependency::default() };
/// let bytes = Schema::new(header).dependency(&base).body(b"{}").to_vec()?;
///
/// let schema = SchemaDescriptor::decode(&bytes)?;
/// assert_eq!(schema.prelude.dependency_count, 1);
/// assert_eq!(schema.body_leading().iter().next().map(|row| row.schema_id()), Some(0x1001));
/// assert!(schema.body.ends_with(b"{}"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    header: SchemaDescriptorHeader,
    dependencies: Vec<u8>,
    rest: Vec<u8>,
}

impl Schema {
    /// A schema without a body. `body_bytes` and `dependency_count` of the header are filled in.
    pub const fn new(header: SchemaDescriptorHeader) -> Self {
        Self { header, dependencies: Vec::new(), rest: Vec::new() }
    }

    /// Adds something that it depends on.
    #[must_use]
    pub fn dependency(mut self, dependency: &SchemaDependency) -> Self {
        self.dependencies.extend_from_slice(&dependency.pack());
        self
    }

    /// Adds bytes behind the dependencies, whose form the profile defines.
    #[must_use]
    pub fn body(mut self, bytes: &[u8]) -> Self {
        self.rest.extend_from_slice(bytes);
        self
    }

    /// The descriptor.
    ///
    /// # Errors
    ///
    /// Where a reader would refuse it.
    pub fn to_vec(&self) -> Result<Vec<u8>, Fault> {
        let dependencies = self.dependencies.len() / SchemaDependency::SIZE;
        let dependency_count = u16::try_from(dependencies).map_err(|_| TOO_MANY)?;
        let body = [self.dependencies.as_slice(), &self.rest].concat();
        u32::try_from(body.len()).map_err(|_| TOO_LARGE)?;
        let prelude = SchemaDescriptorHeader { dependency_count, ..self.header };
        let schema = SchemaDescriptor { prelude, body: &body };
        let mut out = alloc::vec![0; schema.encoded_len()];
        match schema.encode_into(&mut out) {
            Ok(_) => Ok(out),
            Err(WriteError::Fault(fault)) => Err(fault),
            Err(WriteError::Room(_)) => Err(TOO_LARGE),
        }
    }
}
