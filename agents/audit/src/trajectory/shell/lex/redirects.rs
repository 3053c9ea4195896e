//! Redirections, and the texts of here-documents.

use super::{Lexer, Part, Pending, Redirect, Token, Word, template};

impl Lexer<'_> {
    pub(super) fn redirect(&mut self, make: fn(Word) -> Redirect) {
        self.blanks();
        let word = self.word();
        self.tokens.push(Token::Redirect(make(word)));
    }

    pub(super) fn angle(&mut self) {
        if self.skip("<<<") {
            return self.redirect(Redirect::Text);
        }
        if self.skip("<<") {
            return self.here_begin();
        }
        if self.skip("<>") {
            return self.redirect(Redirect::To);
        }
        if self.skip("<&") || self.skip(">&") {
            self.blanks();
            let word = self.word();
            // `>&FILE` is a file, `2>&1` and `>&-` are none.
            let descriptor = word
                .bare()
                .is_some_and(|text| text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()));
            if !descriptor {
                self.tokens.push(Token::Redirect(Redirect::To(word)));
            }
            return;
        }
        if self.skip("<") {
            return self.redirect(Redirect::From);
        }
        let _ = self.skip(">>") || self.skip(">|") || self.skip(">");
        self.redirect(Redirect::To);
    }

    fn here_begin(&mut self) {
        let tabs = self.skip("-");
        self.blanks();
        let word = self.word();
        let mut end = String::new();
        let mut literal = false;
        for part in &word.parts {
            match part {
                Part::Plain(text) => end.push_str(text),
                Part::Quoted(text) => {
                    literal = true;
                    end.push_str(text);
                }
                Part::Variable { name, .. } => {
                    end.push('$');
                    end.push_str(name);
                }
                _ => {}
            }
        }
        self.pending.push(Pending { token: self.tokens.len(), end, literal, tabs });
        self.tokens.push(Token::Redirect(Redirect::Text(Word::default())));
    }

    /// Takes the texts of the here-documents that this line began.
    pub(super) fn here_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while !self.rest.is_empty() {
                let length = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
                let (line, rest) = self.rest.split_at(length);
                self.rest = rest;
                let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches(['\n', '\r']) == pending.end {
                    break;
                }
                body.push_str(line);
            }
            let word =
                if pending.literal { Word { parts: vec![Part::Quoted(body)] } } else { template(&body) };
            if let Some(token) = self.tokens.get_mut(pending.token) {
                *token = Token::Redirect(Redirect::Text(word));
            }
        }
    }
}
