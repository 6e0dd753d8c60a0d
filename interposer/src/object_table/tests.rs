use super::*;
use core::sync::atomic::AtomicU32;

struct Plain {
    key: AtomicU64,
    serial: AtomicU32,
}

impl Object for Plain {
    type Alignment = u64;
    const NEW: Self = Self {
        key: AtomicU64::new(0),
        serial: AtomicU32::new(0),
    };
    const CAN_BE_TAKEN_OVER: bool = true;

    fn key(&self) -> &AtomicU64 {
        &self.key
    }

    fn clear(&self) {
        self.serial.store(0, Relaxed);
    }
}

type Table = ObjectTable<Plain, 512, 2, 4>;

fn table() -> &'static Table {
    Box::leak(Box::new(Table::new()))
}

#[test]
fn a_handle_keeps_its_entry_until_it_is_removed() {
    let table = table();
    let first = table.get_or_insert(0x1000).unwrap();
    let second = table.get_or_insert(0x2000).unwrap();
    first.serial.store(7, Relaxed);
    assert!(!std::ptr::eq(first, second));
    assert!(std::ptr::eq(first, table.get_or_insert(0x1000).unwrap()));
    assert!(table.get(0x3000).is_none());
    assert!(table.get_or_insert(0).is_none());
    table.remove(0x1000, second);
    assert!(table.get(0x1000).is_some(), "it is another one's");
    table.remove(0x1000, first);
    assert!(table.get(0x1000).is_none());
    let again = table.get_or_insert(0x5000).unwrap();
    assert!(std::ptr::eq(first, again), "the entry is used again");
    assert_eq!(again.serial.load(Relaxed), 0);
}

#[test]
fn a_page_without_handles_is_given_up_and_taken_again() {
    let table = table();
    let pages = || {
        let pages = table.pages.iter();
        pages.filter(|page| page.load(Relaxed)).count()
    };
    let first = table.get_or_insert(0x1000).unwrap();
    let second = table.get_or_insert(0x1010).unwrap();
    let all = pages();
    assert!(all > 0);
    table.remove(0x1000, first);
    let leave_all = || (0..2).for_each(|page| table.leave_page(page));
    leave_all();
    assert!(pages() > 0, "the other one is there");
    assert!(table.get(0x1010).is_some());
    table.remove(0x1010, second);
    leave_all();
    assert_eq!(pages(), 0);
    assert!(table.get_or_insert(0x1000).is_some());
    assert!(pages() > 0);
}

#[test]
fn a_handle_that_has_left_comes_back_or_is_taken_by_another_object() {
    let table = table();
    let first = table.get_or_insert(0x1000).unwrap();
    first.serial.store(7, Relaxed);
    table.leave(0x1000);
    assert!(table.get(0x1000).is_none());
    table.come_back(0x1000);
    assert_eq!(table.get(0x1000).unwrap().serial.load(Relaxed), 7);
    // Another thread gets the handle before the call that ends the object has returned.
    table.leave(0x1000);
    let other = table.get_or_insert(0x1000).unwrap();
    assert_eq!(other.serial.load(Relaxed), 0);
    other.serial.store(8, Relaxed);
    table.gone(0x1000, None);
    table.come_back(0x1000);
    assert_eq!(table.get(0x1000).unwrap().serial.load(Relaxed), 8);
    table.leave(0x1000);
    table.gone(0x1000, None);
    assert!(table.get(0x1000).is_none());
    table.come_back(0x1000);
    table.leave(0x9000);
    table.gone(0x9000, None);
    assert!(table.get(0x1000).is_none() && table.get(0x9000).is_none());
}

#[test]
fn an_entry_that_is_still_looked_at_is_not_taken_over() {
    struct SharedEntry(AtomicU64);
    impl Object for SharedEntry {
        type Alignment = u64;
        const NEW: Self = Self(AtomicU64::new(0));
        const CAN_BE_TAKEN_OVER: bool = false;
        fn key(&self) -> &AtomicU64 {
            &self.0
        }
        fn clear(&self) {}
    }
    let table: &'static ObjectTable<SharedEntry, 512, 2, 4> =
        Box::leak(Box::new(ObjectTable::new()));
    let first = table.get_or_insert(0x1000).unwrap();
    assert!(std::ptr::eq(table.leave(0x1000).unwrap(), first));
    assert!(table.leave(0x1000).is_none(), "it has left");
    let second = table.get_or_insert(0x1000).unwrap();
    assert!(!std::ptr::eq(first, second));
    table.gone(0x1000, Some(first));
    assert!(std::ptr::eq(second, table.get(0x1000).unwrap()));
    assert!(std::ptr::eq(first, table.get_or_insert(0x2000).unwrap()));
    table.leave(0x2000);
    table.gone(0x2000, Some(first));
    assert!(table.get(0x2000).is_none());
}

#[test]
fn any_number_of_objects_one_after_another_need_one_entry() {
    let table = table();
    let kept = table.get_or_insert(0x77_0000).unwrap();
    for handle in (1..100_000u64).map(|number| number * 4096) {
        let entry = table.get_or_insert(handle).unwrap();
        assert_eq!(entry.key.load(Relaxed), handle);
        assert!(std::ptr::eq(entry, table.get(handle).unwrap()));
        if handle != 0x77_0000 {
            table.remove(handle, entry);
        }
    }
    assert_eq!(table.iter().count(), 4);
    assert!(std::ptr::eq(kept, table.get(0x77_0000).unwrap()));
    let used = table.slots.iter();
    let used = used.filter(|slot| slot.key.load(Relaxed) != 0).count();
    assert_eq!(used, 1, "nothing is left of those that are gone");
}

#[test]
fn entries_added_and_removed_at_random_are_found_while_present() {
    let table = table();
    let mut there = std::collections::BTreeMap::<u64, &Plain>::new();
    let mut state = 1u64;
    for _ in 0..200_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let handle = (1 + (state >> 33) % 300) * 64;
        match there.remove(&handle) {
            Some(entry) => {
                assert!(std::ptr::eq(entry, table.get(handle).unwrap()));
                table.remove(handle, entry);
                assert!(table.get(handle).is_none());
            }
            None => {
                assert!(table.get(handle).is_none());
                there.insert(handle, table.get_or_insert(handle).unwrap());
            }
        }
    }
    for (handle, entry) in &there {
        assert!(std::ptr::eq(*entry, table.get(*handle).unwrap()));
    }
}

#[test]
fn a_full_table_says_so_and_has_room_again() {
    let table = table();
    let handles = (1..=2000u64).map(|number| number * 4096);
    let taken: Vec<u64> = handles
        .filter(|handle| table.get_or_insert(*handle).is_some())
        .collect();
    assert!((300..=512).contains(&taken.len()), "{}", taken.len());
    table.remove(taken[0], table.get(taken[0]).unwrap());
    assert!(table.get_or_insert(taken[0]).is_some());
}

#[test]
fn threads_agree_on_the_entry_of_a_handle() {
    let table = table();
    let places: Vec<usize> = std::thread::scope(|scope| {
        let look = || std::ptr::from_ref(table.get_or_insert(42).unwrap()) as usize;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(look)).collect();
        let threads = threads.into_iter();
        threads.map(|thread| thread.join().unwrap()).collect()
    });
    assert!(places.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn handles_are_found_while_others_come_and_go() {
    let table = table();
    let kept: Vec<u64> = (1..=50u64).map(|number| number * 16).collect();
    for handle in &kept {
        table.get_or_insert(*handle).unwrap();
    }
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            scope.spawn(move || {
                for round in 0..20_000u64 {
                    let handle = 16 * (100 + thread * 100 + round % 97);
                    let entry = table.get_or_insert(handle).unwrap();
                    assert_eq!(entry.key.load(Relaxed), handle);
                    table.remove(handle, entry);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..2_000 {
                for handle in &kept {
                    assert_eq!(table.get(*handle).unwrap().key.load(Relaxed), *handle);
                }
            }
        });
    });
}
