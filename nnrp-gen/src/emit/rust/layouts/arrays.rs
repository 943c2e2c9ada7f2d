//! Long arrays for serde.

use crate::model::Field;
use proc_macro2::TokenStream;
use quote::quote;

/// Whether a field is an array of more than 32, for which the standard library and serde have less.
pub(in crate::emit::rust) fn is_long_array(field: &Field) -> bool {
    field.count.is_some_and(|count| count > 32)
}

/// What reads and writes long arrays for serde, as the short ones are; once a module.
pub(in crate::emit::rust) fn serde_array() -> TokenStream {
    quote! {
        #[cfg(feature = "serde")]
        mod serde_array {
            /// Writes an array.
            pub(super) fn serialize<T, S, const N: usize>(array: &[T; N], out: S) -> Result<S::Ok, S::Error>
            where
                T: serde::Serialize,
                S: serde::Serializer,
            {
                use serde::ser::SerializeTuple;
                let mut tuple = out.serialize_tuple(N)?;
                array.iter().try_for_each(|item| tuple.serialize_element(item))?;
                tuple.end()
            }

            /// Reads an array.
            pub(super) fn deserialize<'de, T, D, const N: usize>(input: D) -> Result<[T; N], D::Error>
            where
                T: serde::Deserialize<'de> + Copy + Default,
                D: serde::Deserializer<'de>,
            {
                struct Items<T, const N: usize>(core::marker::PhantomData<T>);

                impl<'de, T, const N: usize> serde::de::Visitor<'de> for Items<T, N>
                where
                    T: serde::Deserialize<'de> + Copy + Default,
                {
                    type Value = [T; N];

                    fn expecting(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        write!(out, "an array of length {N}")
                    }

                    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<[T; N], A::Error> {
                        let mut array = [T::default(); N];
                        for (at, place) in array.iter_mut().enumerate() {
                            let Some(item) = items.next_element()? else {
                                return Err(serde::de::Error::invalid_length(at, &self));
                            };
                            *place = item;
                        }
                        Ok(array)
                    }
                }

                input.deserialize_tuple(N, Items(core::marker::PhantomData))
            }
        }
    }
}
