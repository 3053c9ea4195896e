//! The page, in a real browser: with and without JavaScript, light and dark, narrow, printed, and without a network.
//!
//! The pictures stay in the target directory (`tmp/canary-page`), to be looked at.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use closedbook_canary::report::judgement::{judge, judge_waiving};
use closedbook_canary::report::{Evidence, Report, Waivers, html};
use closedbook_canary::{Level, Seen, catalogue};

use crate::sample::{arrival, evidence, outcome};

/// One of each end.
fn all_ends() -> Evidence {
    let mut evidence = evidence();
    let leak = outcome(&mut evidence, "agent", Level::Root, "udp-any").tries[0].clone();
    evidence.witness.as_mut().unwrap().arrivals.push(arrival(&leak));
    outcome(&mut evidence, "agent", Level::Agent, "http-plain-unfiltered").tries[0].seen =
        Seen::Octets { text: "220 ready".to_owned() };
    outcome(&mut evidence, "setup", Level::Agent, "http-plain-unfiltered").tries[0].ms = 2400;
    outcome(&mut evidence, "agent", Level::Agent, "allow-https").tries[0].seen =
        Seen::Alert { description: 49 };
    outcome(&mut evidence, "setup", Level::Root, "tls-sni-blocked-name").tries[0].seen =
        Seen::failed("no descriptor");
    evidence
}

/// What somebody who wants to write into the page would send.
const HOSTILE: &str = "</script></style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'\"&{{digest}}\u{202e}\u{1b}[2J";

/// It is in every text that is not ours.
fn hostile() -> Evidence {
    let mut evidence = all_ends();
    let hostile = || HOSTILE.to_owned();
    evidence.run = hostile();
    evidence.made = hostile();
    evidence.ended = Some(hostile());
    let subject = &mut evidence.subject;
    subject.canary = hostile();
    for text in [
        &mut subject.policy,
        &mut subject.agent,
        &mut subject.provider,
        &mut subject.auth,
        &mut subject.topology,
        &mut subject.sidecar,
        &mut subject.image,
    ] {
        *text = Some(hostile());
    }
    subject.phases.push(hostile());
    for fact in &mut evidence.facts {
        fact.id = hostile();
        fact.phase = Some(hostile());
        fact.about = hostile();
        fact.text = hostile();
    }
    let stage = &mut evidence.stages[0];
    stage.phase = hostile();
    stage.run = hostile();
    stage.policy = Some(hostile());
    stage.surroundings.kernel = hostile();
    stage.surroundings.devices = vec![hostile()];
    stage.surroundings.capabilities = vec![hostile()];
    stage.surroundings.bounding = vec![hostile()];
    for outcome in &mut stage.outcomes {
        outcome.broken = Some(hostile());
        for attempt in &mut outcome.tries {
            attempt.what = hostile();
            attempt.to = hostile();
            attempt.seen = Seen::Octets { text: hostile() };
        }
    }
    stage.outcomes[0].id = hostile();
    stage.outcomes[1].skipped = Some(hostile());
    for arrival in &mut evidence.witness.as_mut().unwrap().arrivals {
        arrival.proto = hostile();
        arrival.name = Some(hostile());
        arrival.detail = Some(hostile());
    }
    evidence
}

#[test]
fn nothing_that_was_sent_gets_into_the_page_as_markup() {
    let mut report = Report::of(hostile());
    report.digest = HOSTILE.to_owned();
    let page = html::page(&report, &judge(&report.evidence));
    // The template has one script and one style; nothing closes them, and nothing opens more.
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
    assert_eq!((page.matches("<style").count(), page.matches("</style").count()), (1, 1));
    assert!(!page.contains("<img") && !page.contains("onerror=\""));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;script&gt;document.title="));
    // What looks like a place of the template is none.
    assert!(page.contains("&#39;&quot;&amp;{{digest}}"));
}

/// It asks for nothing, and could not: no address in it is loaded by itself.
#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let report = Report::of(all_ends());
    let page = html::page(&report, &judge(&report.evidence));
    for what in ["src=", "@import", "url(", "<link", "<iframe", "<img", "srcset", "fetch(", "XMLHttpRequest"]
    {
        assert!(!page.contains(what), "{what}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_technique_and_every_try_is_in_it() {
    let report = Report::of(all_ends());
    let page = html::page(&report, &judge(&report.evidence));
    for stage in &report.evidence.stages {
        for outcome in &stage.outcomes {
            assert!(page.contains(&format!(">{}<", outcome.id)), "{}", outcome.id);
        }
    }
    let tries = report.evidence.tries().count();
    assert_eq!(page.matches("<tr><td data-l=\"Tried\">").count(), tries);
    for probe in catalogue() {
        // Each cell's link leads somewhere.
        for (_, rest) in
            page.match_indices(&format!("href=\"#d-{}-", probe.id)).map(|(at, _)| page.split_at(at))
        {
            let target = rest.split('"').nth(1).unwrap().trim_start_matches('#');
            assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        }
    }
}

#[test]
fn what_was_waived_is_shown_as_such() {
    let mut suspect = evidence();
    outcome(&mut suspect, "agent", Level::Root, "udp-any").tries[0].seen =
        Seen::Octets { text: "x".to_owned() };
    let waivers = Waivers::from_text("[[waive]]\nid = \"udp-any\"\nreason = \"a known answer <b>\"").unwrap();
    let report = Report::of(suspect);
    let page = html::page(&report, &judge_waiving(&report.evidence, &waivers));
    assert!(page.contains("waived</span>") && page.contains("a known answer &lt;b&gt;"));
    assert!(page.contains("<header class=\"verdict pass\">"));
}

/// A browser in a network namespace of its own, in which there is nothing.
struct Browser {
    program: PathBuf,
    folder: PathBuf,
}

impl Browser {
    fn find(test: &str) -> Option<Self> {
        let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
        let Some(program) = places.iter().map(PathBuf::from).find(|path| path.exists()) else {
            assert!(std::env::var_os("CI").is_none(), "there is no Chromium here (Debian: chromium)");
            // Past the harness, which keeps what passing tests print to itself.
            let mut stderr = std::io::stderr();
            writeln!(stderr, "=== NOT TESTED: there is no Chromium to look at the page with ===").unwrap();
            return None;
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("canary-page").join(test);
        fs::create_dir_all(&folder).unwrap();
        Some(Self { program, folder })
    }

    fn page(&self, report: &Report) -> PathBuf {
        let path = self.folder.join("page.html");
        fs::write(&path, html::page(report, &judge(&report.evidence))).unwrap();
        path
    }

    /// Loads the page, and gives back what it wrote on standard output.
    fn load(&self, words: &[&str], page: &Path, hash: &str) -> String {
        let profile = tempfile::tempdir().unwrap();
        let net_log = self.folder.join("net.json");
        let output = Command::new("timeout")
            .args(["60", "unshare", "--map-root-user", "--net"])
            .arg(&self.program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-dev-shm-usage",
            ])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--log-net-log={}", net_log.display()))
            .args(words)
            .arg(format!("file://{}{hash}", page.display()))
            .env("HOME", profile.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.asked_for_nothing(&net_log);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// By the browser's own log: it looked up no name and asked for no address but the page's own file.
    fn asked_for_nothing(&self, net_log: &Path) {
        let log = fs::read_to_string(net_log).unwrap();
        let requests: Vec<&str> = log
            .match_indices("\"url\":\"")
            .map(|(at, start)| log[at + start.len()..].split('"').next().unwrap())
            .filter(|url| url.starts_with("http") || url.starts_with("ws"))
            // The browser's own: it asks for these of whatever page it shows.
            .filter(|url| {
                !url.contains(".google.com") && !url.contains(".googleapis.com") && !url.contains(".gvt1.com")
            })
            .collect();
        assert_eq!(requests, Vec::<&str>::new());
    }

    /// A picture, which is one: not of a single colour.
    fn picture(&self, name: &str, words: &[&str], page: &Path, hash: &str) {
        let path = self.folder.join(name);
        let shot = format!("--screenshot={}", path.display());
        let words: Vec<&str> = words.iter().copied().chain([shot.as_str()]).collect();
        self.load(&words, page, hash);
        let octets = fs::read(&path).unwrap();
        assert_eq!(&octets[..8], b"\x89PNG\r\n\x1a\n");
        // An empty picture of this size has some five thousand.
        assert!(octets.len() > 30_000, "{} has {} octets", path.display(), octets.len());
    }
}

fn shown_rows(dom: &str) -> usize {
    dom.split("<tr ")
        .filter(|row| row.contains("data-text=") && !row.split('>').next().unwrap().contains(" hidden=\"\""))
        .count()
}

#[test]
fn a_browser_shows_it_with_and_without_javascript() {
    let Some(browser) = Browser::find("ends") else { return };
    let report = Report::of(all_ends());
    let page = browser.page(&report);
    let all = {
        let mut ids: Vec<&str> =
            report.evidence.stages.iter().flat_map(|s| &s.outcomes).map(|o| o.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    };

    // Without: everything is there, and the filter, which would do nothing, is not. Chromium without
    // JavaScript can tell nobody its document, so here the page's own policy keeps the script from running.
    let text = fs::read_to_string(&page).unwrap();
    let without = browser.folder.join("without-script.html");
    fs::write(&without, text.replace("script-src 'sha256-", "script-src 'sha256-no+")).unwrap();
    let dom = browser.load(&["--dump-dom"], &without, "");
    assert_eq!(shown_rows(&dom), all);
    assert!(dom.contains("id=\"filter\" role=\"search\" aria-label=\"Filter techniques\" hidden"));

    // With: the filter is there, and leaves what fits.
    let dom = browser.load(&["--dump-dom"], &page, "");
    assert_eq!(shown_rows(&dom), all);
    assert!(!dom.contains("aria-label=\"Filter techniques\" hidden"));
    assert!(dom.contains(&format!("{all} techniques</output>")), "the script did not run");
    let dom = browser.load(&["--dump-dom"], &page, "#filter=udp-any");
    assert_eq!(shown_rows(&dom), 1);
    assert!(dom.contains(&format!("1 of {all} techniques</output>")));
    let dom = browser.load(&["--dump-dom"], &page, "#filter=&leak");
    assert_eq!(shown_rows(&dom), 1);
    // A cell's link opens what it leads to.
    let dom = browser.load(&["--dump-dom"], &page, "#d-tls-sni-spoof-foreign-ip-0");
    let details =
        dom.split("<details ").find(|part| part.starts_with("id=\"p-tls-sni-spoof-foreign-ip\"")).unwrap();
    assert!(details.split('>').next().unwrap().contains("open"));

    let wide = "--window-size=1280,2600";
    browser.picture("light.png", &[wide, "--blink-settings=preferredColorScheme=1"], &page, "");
    browser.picture("dark.png", &[wide, "--blink-settings=preferredColorScheme=0"], &page, "");
    browser.picture("without-javascript.png", &[wide], &without, "");
    browser.picture("narrow.png", &["--window-size=500,3200"], &page, "");
    let print = format!("--print-to-pdf={}", browser.folder.join("print.pdf").display());
    browser.load(&[&print, "--no-pdf-header-footer"], &page, "");
    assert!(fs::read(browser.folder.join("print.pdf")).unwrap().starts_with(b"%PDF"));
}

#[test]
fn a_browser_runs_nothing_that_was_sent() {
    let Some(browser) = Browser::find("hostile") else { return };
    let report = Report::of(hostile());
    let page = browser.page(&report);
    let dom = browser.load(&["--dump-dom"], &page, "");
    let title = dom.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    assert!(title.starts_with("Fail"), "{title}");
    assert!(dom.contains(" techniques</output>"), "the page's own script did not run");
}

#[test]
fn a_pass_is_a_calm_page() {
    let Some(browser) = Browser::find("pass") else { return };
    let page = browser.page(&Report::of(evidence()));
    browser.picture(
        "light.png",
        &["--window-size=1280,2000", "--blink-settings=preferredColorScheme=1"],
        &page,
        "",
    );
}
