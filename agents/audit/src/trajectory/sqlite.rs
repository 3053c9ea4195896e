//! Reads the tables of a SQLite file, as OpenCode keeps its sessions in one.
//!
//! A reader of its own and not the library: it only ever walks whole tables, which is a small part of the format; the
//! library is over a megabyte of C in a program that is also the sidecar; and the file comes from the task, so what reads
//! it should not be able to write, and not be C. The write-ahead log belongs to the file. What is no such file, whole and
//! consistent, is refused.
//!
//! The format: <https://www.sqlite.org/fileformat2.html>.

use std::collections::{HashMap, HashSet};

mod bytes;
mod wal;

use bytes::{Reader, u16_at, u32_at};

/// How a database begins.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

type Outcome<T> = Result<T, String>;

/// A database.
pub(crate) struct Database<'a> {
    file: &'a [u8],
    wal: &'a [u8],
    /// Where pages stand in the write-ahead log.
    newer: HashMap<u32, usize>,
    page_size: usize,
    usable: usize,
    pages: u32,
    encoding: u32,
}

/// A table with rows of its own.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    root: u32,
    without_rowid: bool,
}

/// A row.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) values: Vec<Value>,
}

/// A value. Of what is neither text nor a whole number nothing is needed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Other,
}

impl<'a> Database<'a> {
    pub(crate) fn open(file: &'a [u8], wal: Option<&'a [u8]>) -> Outcome<Self> {
        let header = file
            .get(..100)
            .filter(|header| header.starts_with(MAGIC))
            .ok_or("no SQLite file, or cut off within its header")?;
        let page_size = match u16_at(header, 16).unwrap_or(0) {
            1 => 65536,
            size if size >= 512 && size.is_power_of_two() => usize::from(size),
            size => return Err(format!("a page size of {size}, which no SQLite file has")),
        };
        let reserved = usize::from(header.get(20).copied().unwrap_or(0));
        let usable = page_size
            .checked_sub(reserved)
            .filter(|usable| *usable >= 480)
            .ok_or("too much of its pages is reserved")?;
        let encoding = u32_at(header, 56).unwrap_or(0);
        let mut database = Self {
            file,
            wal: &[],
            newer: HashMap::new(),
            page_size,
            usable,
            pages: u32_at(header, 28).unwrap_or(0),
            encoding,
        };
        let held = u32::try_from(file.len() / page_size).unwrap_or(u32::MAX);
        // A program older than 3.7.0 leaves the count of pages stale.
        if u32_at(header, 24) != u32_at(header, 92) || database.pages == 0 {
            database.pages = held;
        }
        if let Some(log) = wal.filter(|log| !log.is_empty()) {
            let read = wal::read(log, page_size)?;
            if let Some(pages) = read.pages {
                database.pages = pages;
                database.newer = read.newer;
                database.wal = log;
            }
        }
        if database.newer.is_empty() && database.pages > held {
            return Err(format!("cut off: it has {held} of {} pages", database.pages));
        }
        // The header on page 1 may be newer in the log.
        if let Some(encoding) = database.page(1)?.get(56..60).and_then(|_| u32_at(database.page(1).ok()?, 56))
        {
            database.encoding = encoding;
        }
        if !matches!(database.encoding, 0..=3) {
            return Err(format!("text encoding {}, which no SQLite file has", database.encoding));
        }
        Ok(database)
    }

    fn page(&self, number: u32) -> Outcome<&'a [u8]> {
        if number == 0 || number > self.pages {
            return Err(format!("page {number} of {} is asked for", self.pages));
        }
        let (source, at) = match self.newer.get(&number) {
            Some(at) => (self.wal, *at),
            None => (self.file, (number as usize - 1) * self.page_size),
        };
        source.get(at..at + self.page_size).ok_or_else(|| format!("cut off before page {number}"))
    }

    /// The tables, from the schema.
    pub(crate) fn tables(&mut self) -> Outcome<Vec<Table>> {
        let schema = Table { name: "sqlite_schema".into(), root: 1, without_rowid: false };
        let mut tables = Vec::new();
        for row in self.rows(&schema)? {
            let (Some(Value::Text(kind)), Some(Value::Text(name)), Some(Value::Integer(root)), sql) =
                (row.values.first(), row.values.get(1), row.values.get(3), row.values.get(4))
            else {
                continue;
            };
            if kind != "table" || *root == 0 || name.starts_with("sqlite_") {
                continue;
            }
            let without_rowid = match sql {
                Some(Value::Text(sql)) => sql
                    .to_ascii_uppercase()
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .contains("WITHOUT ROWID"),
                _ => false,
            };
            let root = u32::try_from(*root).map_err(|_| format!("table {name} begins at page {root}"))?;
            tables.push(Table { name: name.clone(), root, without_rowid });
        }
        Ok(tables)
    }

    /// All rows of a table.
    pub(crate) fn rows(&mut self, table: &Table) -> Outcome<Vec<Row>> {
        if table.without_rowid {
            return Err("a table without row ids, which is not read".into());
        }
        let mut rows = Vec::new();
        let mut visited = HashSet::new();
        // Children before their later siblings: rows come in the order of their ids.
        let mut pending = vec![table.root];
        while let Some(number) = pending.pop() {
            if !visited.insert(number) {
                return Err(format!("page {number} is part of its tree twice"));
            }
            let page = self.page(number)?;
            let start = if number == 1 { 100 } else { 0 };
            let kind = page.get(start).copied().unwrap_or(0);
            let count = usize::from(u16_at(page, start + 3).unwrap_or(0));
            let cells = match kind {
                0x0d => start + 8,
                0x05 => start + 12,
                kind => return Err(format!("page {number} is of kind {kind}, and no part of a table")),
            };
            let mut children = Vec::new();
            for index in 0..count {
                let at = usize::from(u16_at(page, cells + index * 2).ok_or("a page with too many cells")?);
                if kind == 0x0d {
                    rows.push(self.row(page, at, &mut visited)?);
                } else {
                    children.push(u32_at(page, at).ok_or_else(|| format!("a cell beyond page {number}"))?);
                }
            }
            if kind == 0x05 {
                children.push(u32_at(page, start + 8).unwrap_or(0));
                pending.extend(children.into_iter().rev());
            }
        }
        Ok(rows)
    }

    fn row(&self, page: &'a [u8], at: usize, visited: &mut HashSet<u32>) -> Outcome<Row> {
        let mut reader = Reader::new(page, at);
        let length = reader.varint().ok_or("a cell beyond its page")?;
        let id = reader.varint().ok_or("a cell beyond its page")? as i64;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= self.pages as usize * self.page_size)
            .ok_or("a row larger than the file")?;
        let most = self.usable - 35;
        if length <= most {
            return self.values(id, reader.take(length).ok_or("a cell beyond its page")?);
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let here = least + (length - least) % (self.usable - 4);
        let here = if here <= most { here } else { least };
        let mut payload = reader.take(here).ok_or("a cell beyond its page")?.to_vec();
        let mut next = reader.take(4).and_then(|bytes| u32_at(bytes, 0)).ok_or("a cell beyond its page")?;
        while payload.len() < length {
            if !visited.insert(next) {
                return Err(format!("page {next} continues two rows"));
            }
            let page = self.page(next)?;
            let more = (length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(page.get(4..4 + more).unwrap_or_default());
            next = u32_at(page, 0).unwrap_or(0);
        }
        self.values(id, &payload)
    }

    fn values(&self, id: i64, payload: &[u8]) -> Outcome<Row> {
        let mut head = Reader::new(payload, 0);
        let fault = || format!("row {id} can't be read");
        let length = head.varint().and_then(|length| usize::try_from(length).ok()).ok_or_else(fault)?;
        let mut body = Reader::new(payload, length);
        let mut values = Vec::new();
        while head.at() < length {
            let kind = head.varint().ok_or_else(fault)?;
            let value = match kind {
                0 => Value::Null,
                1..=6 => {
                    let size = [1, 2, 3, 4, 6, 8].get(kind as usize - 1).copied().unwrap_or(8);
                    Value::Integer(bytes::integer(body.take(size).ok_or_else(fault)?))
                }
                7 => body.take(8).map(|_| Value::Other).ok_or_else(fault)?,
                8 => Value::Integer(0),
                9 => Value::Integer(1),
                10 | 11 => return Err(fault()),
                kind => {
                    let size = usize::try_from((kind - 12) / 2).map_err(|_| fault())?;
                    let held = body.take(size).ok_or_else(fault)?;
                    if kind % 2 == 0 {
                        self.blob(held)
                    } else {
                        Value::Text(
                            self.text(held).ok_or_else(|| format!("row {id} has a text that is none"))?,
                        )
                    }
                }
            };
            values.push(value);
        }
        Ok(Row { id, values })
    }

    /// Text that was put in as bytes is still text.
    fn blob(&self, held: &[u8]) -> Value {
        match held.first() {
            Some(b'{' | b'[') => {
                str::from_utf8(held).map_or(Value::Other, |text| Value::Text(text.to_owned()))
            }
            _ => Value::Other,
        }
    }

    fn text(&self, held: &[u8]) -> Option<String> {
        let pairs = |make: fn([u8; 2]) -> u16| {
            let units = held
                .chunks_exact(2)
                .map(|pair| make([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)]));
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
        };
        match self.encoding {
            2 => Some(pairs(u16::from_le_bytes)),
            3 => Some(pairs(u16::from_be_bytes)),
            _ => str::from_utf8(held).ok().map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests;
