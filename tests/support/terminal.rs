//! A terminal that records what it showed: `script` provides the device, and this module interprets its output as a screen.

use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::scene::Scene;

/// A terminal of a fixed size, with all lines that it has shown.
pub struct Terminal {
    pub columns: usize,
    pub rows: usize,
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// The row after the last finished line. The rows below change between frames.
    bottom: usize,
    has_printed: bool,
    /// The changing lines of each complete frame.
    pub frames: Vec<Vec<String>>,
    /// The rows whose text wrapped into the next one.
    pub wrapped: Vec<String>,
}

impl Terminal {
    pub fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            rows,
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
            bottom: 0,
            has_printed: false,
            frames: Vec::new(),
            wrapped: Vec::new(),
        }
    }

    /// Runs `tfoci` on a terminal of this size, with stdout in the file `stdout`, and asserts success.
    #[track_caller]
    pub fn run(scene: &Scene, columns: usize, rows: usize, arguments: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_tfoci");
        let line = format!("stty cols {columns} rows {rows}; '{program}' {arguments} >stdout");
        let mut command = scene.command("script");
        command.args(["-qec", &line, "/dev/null"]);
        command.env("SHELL", "/bin/sh").env("TERM", "xterm");
        let mut child = Watched(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut output = child.0.stdout.take().unwrap();
        let mut terminal = Self::new(columns, rows);
        let (mut unread, mut part) = (Vec::new(), [0; 4096]);
        let began = Instant::now();
        loop {
            let count = output.read(&mut part).unwrap();
            unread.extend_from_slice(&part[..count]);
            let whole = match count {
                0 => unread.len(),
                _ => whole(&unread),
            };
            let text: Vec<u8> = unread.drain(..whole).collect();
            terminal.show(std::str::from_utf8(&text).unwrap());
            let is_late = began.elapsed() > LONGEST;
            assert!(!is_late, "{:#?}", terminal.frames.last());
            if count == 0 {
                break;
            }
        }
        let status = child.0.wait().unwrap();
        assert!(status.success(), "{}", terminal.all());
        terminal
    }

    /// Interprets the output of a program.
    pub fn show(&mut self, text: &str) {
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\u{1b}' => {
                    assert_eq!(rest.next(), Some('['));
                    let mut parameters = String::new();
                    let command = loop {
                        match rest.next().unwrap() {
                            c if c.is_ascii_alphabetic() => break c,
                            c => parameters.push(c),
                        }
                    };
                    self.command(command, &parameters);
                }
                '\r' => {
                    if rest.peek() != Some(&'\n') {
                        self.end_frame();
                    }
                    self.column = 0;
                }
                '\n' => {
                    self.row += 1;
                    self.bottom = self.row;
                    self.has_printed = false;
                }
                c => self.print(c),
            }
            self.lines
                .resize(self.lines.len().max(self.row + 1), Vec::new());
        }
    }

    fn command(&mut self, command: char, parameters: &str) {
        let count = parameters.parse().unwrap_or(1);
        match command {
            'A' => {
                self.end_frame();
                let top = self.lines.len().saturating_sub(self.rows);
                self.row = self.row.saturating_sub(count).max(top);
            }
            'B' => self.row = (self.row + count).min(self.lines.len() - 1),
            'K' if parameters == "2" => {
                self.end_frame();
                self.lines[self.row].clear();
            }
            // Colours, and whether the cursor is visible.
            'm' | 'h' | 'l' => {}
            other => panic!("unknown command {parameters}{other}"),
        }
    }

    fn print(&mut self, c: char) {
        if self.column == self.columns {
            let line = &self.lines[self.row];
            // A bar that fills its row is followed by the next bar.
            let goes_on = !matches!(c, ' ' | '█' | '░');
            if goes_on && line.last().is_some_and(|last| *last != ' ') {
                self.wrapped.push(line.iter().collect());
            }
            self.row += 1;
            self.column = 0;
            self.lines
                .resize(self.lines.len().max(self.row + 1), Vec::new());
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
        self.has_printed = true;
    }

    /// Records the lines below the finished ones before they change.
    fn end_frame(&mut self) {
        if std::mem::take(&mut self.has_printed) {
            let lines = self.lines[self.bottom..=self.row].iter();
            self.frames.push(lines.map(|line| text(line)).collect());
        }
    }

    /// Every line that is still in the terminal, including those that scrolled off the screen.
    pub fn all(&self) -> String {
        let lines = self.lines.iter().map(|line| text(line) + "\n");
        lines.collect::<String>().trim_end().to_owned() + "\n"
    }
}

/// The longest time for which a run is watched.
const LONGEST: Duration = Duration::from_secs(120);

/// A program that is killed when the test ends.
struct Watched(Child);

impl Drop for Watched {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// The length of the longest prefix that ends with a whole character and a whole escape sequence.
fn whole(bytes: &[u8]) -> usize {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap(),
    };
    // The meaning of a carriage return depends on the next character.
    let text = valid.trim_end_matches('\r');
    match text.rfind('\u{1b}') {
        Some(at) if !text[at..].contains(|c: char| c.is_ascii_alphabetic()) => at,
        _ => text.len(),
    }
}

fn text(line: &[char]) -> String {
    line.iter().collect::<String>().trim_end().to_owned()
}

#[test]
fn text_is_shown_up_to_its_last_whole_part() {
    for (text, rest) in [
        ("ab", ""),
        ("ab\r", "\r"),
        ("ab\r\n", ""),
        ("ab\u{1b}[2Kc", ""),
        ("ab\u{1b}[2", "\u{1b}[2"),
        ("ab\r\u{1b}", "\u{1b}"),
    ] {
        assert_eq!(&text[whole(text.as_bytes())..], rest, "{text:?}");
    }
    let bar = "a█".as_bytes();
    assert_eq!([whole(bar), whole(&bar[..3]), whole(&bar[..2])], [4, 1, 1]);
}

#[test]
fn frames_and_wrapped_lines_are_found() {
    let mut terminal = Terminal::new(5, 3);
    terminal.show("log\r\nab   cd   \r\u{1b}[2K\u{1b}[1A\r\u{1b}[2Kmore\r\nab   ce   \u{1b}[1A");
    assert_eq!(terminal.frames, [["ab", "cd"], ["ab", "ce"]]);
    assert_eq!(terminal.all(), "log\nmore\nab\nce\n");
    assert!(terminal.wrapped.is_empty());
    terminal.show("\u{1b}[1B\r\u{1b}[2Kabcdefg\r\n");
    assert_eq!(terminal.wrapped, ["abcde"]);
    assert_eq!(terminal.all(), "log\nmore\nab\nabcde\nfg\n");
    // The cursor does not leave the screen.
    terminal.show("\u{1b}[9A\rx");
    assert_eq!(terminal.all(), "log\nmore\nab\nxbcde\nfg\n");
}
