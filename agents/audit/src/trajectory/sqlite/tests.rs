use super::*;

/// Files that Python's sqlite3 made; `make.py` beside them says how.
fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/trajectories/sqlite/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn texts(database: &mut Database<'_>, table: &str) -> Vec<String> {
    let tables = database.tables().unwrap();
    let table = tables.iter().find(|found| found.name == table).unwrap();
    let rows = database.rows(table).unwrap();
    rows.iter()
        .map(|row| match row.values.last().unwrap() {
            Value::Text(text) => {
                format!("{}:{}:{}", row.id, text.chars().count(), text.chars().take(8).collect::<String>())
            }
            other => format!("{}:{other:?}", row.id),
        })
        .collect()
}

#[test]
fn reads_what_sqlite_wrote() {
    let expected: Vec<String> =
        String::from_utf8(fixture("expected.txt")).unwrap().lines().map(str::to_owned).collect();
    for name in ["plain.db", "small-pages.db", "utf16.db"] {
        let file = fixture(name);
        let mut database = Database::open(&file, None).unwrap();
        assert_eq!(texts(&mut database, "part"), expected, "{name}");
    }
}

#[test]
fn the_write_ahead_log_belongs_to_the_file() {
    let expected: Vec<String> =
        String::from_utf8(fixture("expected.txt")).unwrap().lines().map(str::to_owned).collect();
    let (file, wal) = (fixture("wal.db"), fixture("wal.db-wal"));
    let mut database = Database::open(&file, Some(&wal)).unwrap();
    assert_eq!(texts(&mut database, "part"), expected);
    // Without it the file is an older state, or none.
    let without =
        Database::open(&file, None).map(|mut database| database.tables().map(|tables| tables.len()));
    assert!(!matches!(without, Ok(Ok(1..))), "{without:?}");
}

#[test]
fn g16_a_file_that_is_cut_or_changed_is_refused_or_read_and_never_panics() {
    let file = fixture("small-pages.db");
    for length in (0..file.len()).step_by(97) {
        let cut = &file[..length];
        assert!(Database::open(cut, None).is_err(), "cut to {length}");
    }
    let mut state = 1u64;
    for _ in 0..3000 {
        let mut changed = file.clone();
        for _ in 0..4 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (state >> 20) as usize % changed.len();
            changed[at] = (state >> 8) as u8;
        }
        if let Ok(mut database) = Database::open(&changed, None)
            && let Ok(tables) = database.tables()
        {
            for table in &tables {
                let _ = database.rows(table);
            }
        }
    }
}
