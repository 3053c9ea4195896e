//! Transcripts that are a database.

use crate::Malformed;
use crate::trajectory::walk::{self, Spot};
use crate::trajectory::{json, sqlite};

use super::Reading;

impl Reading {
    pub(in crate::trajectory) fn database(&mut self, bytes: &[u8], wal: Option<&[u8]>) {
        let file = self.transcript.file.clone();
        let mut database = match sqlite::Database::open(bytes, wal) {
            Ok(database) => database,
            Err(reason) => return self.fault(Malformed::whole(file, reason)),
        };
        let tables = match database.tables() {
            Ok(tables) => tables,
            Err(reason) => return self.fault(Malformed::whole(file, reason)),
        };
        if !tables.iter().any(|table| {
            matches!(table.name.as_str(), "part" | "message" | "session_message" | "messages" | "event")
        }) {
            return self.fault(Malformed::whole(
                file,
                "a database without a table `part` or `message`: no agent's transcript",
            ));
        }
        // Settings and accounts are no part of what the agent did.
        for table in tables.iter().filter(|table| {
            !matches!(
                table.name.as_str(),
                "account" | "account_state" | "control_account" | "credential" | "permission"
            )
        }) {
            let rows = match database.rows(table) {
                Ok(rows) => rows,
                Err(reason) => {
                    self.fault(Malformed::whole(&file, format!("table {}: {reason}", table.name)));
                    continue;
                }
            };
            for row in rows {
                self.row(&table.name, &row);
            }
        }
    }

    fn row(&mut self, table: &str, row: &sqlite::Row) {
        let id = row.values.iter().find_map(|value| match value {
            sqlite::Value::Text(text) => Some(text.clone()),
            _ => None,
        });
        for value in &row.values {
            let text = match value {
                sqlite::Value::Text(text) => text,
                _ => continue,
            };
            if !text.trim_start().starts_with(['{', '[']) {
                continue;
            }
            let spot = Spot { step_id: id.clone(), step: usize::try_from(row.id).ok(), ..Spot::default() };
            match json::parse(text) {
                Ok(value) => walk::walk(&value, &spot, self),
                Err(fault) => {
                    let reason = format!("table {table}, row {}: {}", row.id, fault.what);
                    let file = self.transcript.file.clone();
                    self.fault(Malformed::whole(file, reason));
                }
            }
        }
    }
}
