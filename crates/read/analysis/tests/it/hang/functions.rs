//! Functions of the program that threads of others run: callbacks and host functions that wait for threads of the program.

use ascend_trace_analysis::hang::{
    FunctionSight, NamedThread, OutsideWait, Report, RootKind, SystemSight, ThreadSight, Verdict,
};

use super::{asleep, certain, chain, report, report_seen, running};

/// Number of a thread of the runtime.
const RUNTIME: u32 = 9999;

/// A thread of the runtime waits in a function of the program, for what `wait` says.
fn in_function(threads: &[NamedThread], waits: Option<OutsideWait>) -> SystemSight {
    let pid = threads.first().map_or(0, |it| it.pid);
    let tid = RUNTIME;
    SystemSight {
        functions: vec![FunctionSight { pid, tid, waits }],
        ..asleep(threads)
    }
}

fn for_a_lock(threads: &[NamedThread]) -> SystemSight {
    in_function(threads, Some(OutsideWait::Lock(1001)))
}

/// In addition, no thread can go on.
fn stuck(threads: &[NamedThread]) -> SystemSight {
    SystemSight {
        stuck: threads.iter().map(|it| it.pid).collect(),
        ..in_function(threads, None)
    }
}

/// The same without a thread that is in a function.
fn stuck_elsewhere(threads: &[NamedThread]) -> SystemSight {
    SystemSight {
        functions: Vec::new(),
        ..stuck(threads)
    }
}

#[test]
fn a_callback_waits_for_a_lock_of_the_thread_that_waits_for_it() {
    fn locked(threads: &[NamedThread]) -> SystemSight {
        let mut seen = asleep(threads);
        for (thread, sight) in threads.iter().zip(&mut seen.threads) {
            if let ThreadSight::Lives { waits, .. } = sight {
                *waits = thread.runs_callbacks.then_some(OutsideWait::Lock(1001));
            }
        }
        seen
    }
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
                t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s?]
                t2: aclrtProcessReport(100)[1us..20s?]";
    let held = report_seen(text, locked);
    let found = certain(&held, RootKind::Cycle);
    assert_eq!(
        found.what,
        "they wait for each other: stream 1 → thread 1002 → thread 1001 → stream 1"
    );
    assert!(found.advice.starts_with("take locks"), "{found:#?}");
    let last = chain(&held);
    assert_eq!(
        last.last(),
        Some(&"thread 1002 is in the callback: it waits for a lock that thread 1001 holds")
    );
    // It waits for nothing that is known.
    assert!(running(&report_seen(text, asleep)).starts_with("the callback of"));
    // Its call for reports ended without one, so it is in no callback.
    let none = text.replace(
        "aclrtProcessReport(100)[1us..20s?]",
        "aclrtProcessReport(100)[20us..30us]=507012 aclrtProcessReport(100)[40us..20s?]",
    );
    let none = report_seen(&none, locked);
    assert_eq!(none.culprits[0].kind, RootKind::Callback, "{none:#?}");
}

#[test]
fn a_host_function_waits_for_a_lock_of_the_thread_that_waits_for_it() {
    let text = "s1: A[1us..9us] by t1[0..1us] hostfunc[?] by t1[10us..11us] A[?] by t1[11us..12us]
                t1: sync(s1)[13us..20s?]";
    let held = report_seen(text, for_a_lock);
    let found = certain(&held, RootKind::Cycle);
    assert_eq!(
        found.what,
        "they wait for each other: stream 1 → thread 1001 → stream 1"
    );
    assert!(found.advice.starts_with("take locks"), "{found:#?}");
    assert_eq!(
        chain(&held).last(),
        Some(&"thread 9999 of the runtime runs it: it waits for a lock that thread 1001 holds")
    );
    // The lock is of a thread that makes no calls.
    fn of_another(threads: &[NamedThread]) -> SystemSight {
        in_function(threads, Some(OutsideWait::Lock(5)))
    }
    running(&report_seen(text, of_another));
    // Which function the thread runs is not known.
    let two = format!("{text} | s2@1: hostfunc[?] by t2[10us..11us] | t2: sync(s2)[13us..20s?]");
    running(&report_seen(&two, for_a_lock));
}

/// The runtime has one thread for the functions of a context.
#[test]
fn host_functions_of_a_context_run_one_after_another() {
    let both = |device: &str| {
        report(&format!(
            "s1: hostfunc[?] by t1[10us..11us]
             s2{device}: A[20us..30us] by t1[19us..20us] hostfunc[?] by t1[21us..22us]
             t1: sync(s2)[40us..20s?]"
        ))
    };
    let one_context = both("");
    assert!(running(&one_context).contains("on stream 1 has not"));
    assert_eq!(one_context.culprits.len(), 1, "{one_context:#?}");
    assert_eq!(
        chain(&one_context)[1..],
        [
            "stream 2 is held by the host function of aclrtLaunchHostFunc, behind that of stream 1: the runtime runs the host \
              functions of a context one after another"
        ]
    );
    let two = both("@1");
    assert_eq!(two.culprits.len(), 2, "{two:#?}");
}

fn replayed(node: &str, last: &str) -> String {
    format!(
        "s1 by t1: Work[captured] of g1 {node}[captured] of g1
         s1: graph[1ms..2ms] by t1[3us..4us] of g1 graph[?] by t1[2ms..2ms] of g1 | t1: sync(s1)[{last}..20s?]"
    )
}

/// The work of the graph took a millisecond before.
#[test]
fn a_program_waits_forever_for_the_host_function_of_a_graph() {
    let hangs = |node: &str, look: fn(&[NamedThread]) -> SystemSight| -> Report {
        report_seen(&replayed(node, "3ms"), look)
    };
    let found = hangs("hostfunc", stuck);
    let culprit = certain(&found, RootKind::Running);
    assert!(
        culprit.what.contains("a graph with a host function")
            && culprit
                .what
                .ends_with("all threads of the process wait for each other"),
        "{culprit:#?}"
    );
    // The thread waits for another stream, which waits for the first one.
    let text = replayed("hostfunc", "3ms").replace(
        "t1: sync(s1)",
        "s1: rec(E)[?] by t1[2ms..2ms] | s2: wait(E#1)[?] by t1[2ms..2ms] B[?] by t1[2ms..2ms] | t1: sync(s2)",
    );
    certain(&report_seen(&text, stuck), RootKind::Running);
    // The device may be at work, or the function is.
    for (node, look) in [
        ("Other", stuck as fn(&[NamedThread]) -> SystemSight),
        ("hostfunc", stuck_elsewhere),
        ("hostfunc", asleep),
    ] {
        assert_eq!(hangs(node, look).verdict, Verdict::Quiet, "{node}");
    }
    // It may take as long as before.
    let text = replayed("hostfunc", "3ms").replace("1ms..2ms", "1ms..9s");
    let text = text
        .replace("[2ms..2ms]", "[9s..9s]")
        .replace("[3ms..", "[9s..");
    assert_eq!(report_seen(&text, stuck).verdict, Verdict::Quiet);
}
