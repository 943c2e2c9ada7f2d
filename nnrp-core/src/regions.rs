//! What stands in the regions of a submit or a result, by its kind.

use crate::{
    CacheObjectKind, ExtensionKind, InlineObject, ObjectReferenceBlockView, OperationLinks, Regions,
};

impl<'a> Regions<'a> {
    /// The first inline object of a kind.
    pub fn object(&self, kind: CacheObjectKind) -> Option<InlineObject<'a>> {
        self.inline_objects.iter().find(|object| object.header.object_kind() == kind)
    }

    /// The first reference to an object of a kind.
    pub fn reference(&self, kind: CacheObjectKind) -> Option<ObjectReferenceBlockView<'a>> {
        self.object_references.iter().find(|reference| reference.object_kind() == kind)
    }

    /// Parent and group of the operation that a submit starts (X2); nothing where it is a root without a group.
    pub fn operation_links(&self) -> Option<OperationLinks> {
        let mut frames = self.extension_payloads_sliced();
        let (_, bytes) =
            frames.find(|(frame, _)| frame.extension_kind() == ExtensionKind::OPERATION_LINKS)?;
        OperationLinks::decode(bytes).ok()
    }
}
