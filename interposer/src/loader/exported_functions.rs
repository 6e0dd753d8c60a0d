//! All functions that an object offers.

use core::ffi::CStr;

use super::object::{Dynamic, Object, read};

impl<'a> Object<'a> {
    /// Calls `action` with the name, address and length of every function that the object defines
    /// for others.
    pub(crate) fn each_function(&self, mut action: impl FnMut(&'a CStr, usize, usize)) {
        let Some(dynamic) = self.dynamic() else {
            return;
        };
        // SAFETY: the tables are those of a mapped object, laid out as its format says.
        unsafe {
            for index in 1..dynamic.symbols_count() {
                if let Some(symbol) = dynamic.offered(index) {
                    let address = self.base.wrapping_add(symbol.st_value as usize);
                    action(dynamic.name(symbol), address, symbol.st_size as usize);
                }
            }
        }
    }
}

impl Dynamic {
    /// How many symbols there are; the table itself does not say.
    ///
    /// # Safety
    /// The tables must be those of a mapped object.
    unsafe fn symbols_count(&self) -> usize {
        // SAFETY: as the caller says. The older table names the count; in the newer one the highest
        // index is the end of the chain that begins last.
        unsafe {
            if self.sysv_hash != 0 {
                let [_, count]: [u32; 2] = read(self.sysv_hash);
                return count as usize;
            }
            if self.gnu_hash == 0 {
                return 0;
            }
            let [buckets, first, filter_words, _]: [u32; 4] = read(self.gnu_hash);
            let bucket_table = self.gnu_hash + 16 + filter_words as usize * 8;
            let chain_table = bucket_table + buckets as usize * 4;
            let heads = (0..buckets as usize).map(|bucket| read::<u32>(bucket_table + bucket * 4));
            let mut index = heads.max().unwrap_or(0);
            if index < first {
                return first as usize;
            }
            while read::<u32>(chain_table + (index - first) as usize * 4) & 1 == 0 {
                index += 1;
            }
            index as usize + 1
        }
    }
}

#[cfg(test)]
mod tests {
    use core::ops::ControlFlow;

    use super::super::walk;

    #[test]
    fn every_function_of_a_library_is_reported_with_its_address_and_length() {
        let mut found = None;
        let mut count = 0;
        walk::each(|place| {
            if !place.object.file_name().starts_with(b"libc.so") {
                return ControlFlow::Continue(());
            }
            place.object.each_function(|name, address, size| {
                count += 1;
                if name == c"getpid" {
                    found = Some((address, size));
                }
            });
            ControlFlow::Break(())
        });
        let getpid = libc::getpid as *const () as usize;
        assert!(found.is_some_and(|(address, size)| address == getpid && size > 0));
        assert!(count > 1000, "{count}");
    }
}
