//! The bytes that the present thread has allocated and not freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// Bytes allocated by this thread less those freed by it; a run does both on one thread.
pub fn live() -> i64 {
    LIVE.get()
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn add(bytes: i64) {
    LIVE.set(LIVE.get() + bytes);
}

#[expect(
    unsafe_code,
    reason = "an allocator is unsafe to implement; this one hands every call on to the system's"
)]
// SAFETY: every call goes to `System` with the same arguments; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as i64 - layout.size() as i64);
        unsafe { System.realloc(at, layout, size) }
    }
}
