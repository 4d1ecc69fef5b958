//! Detects whether the bytes that arrived on a connection end in the middle of a header or frame.
//!
//! A header has to arrive within a time limit, and an idle connection has a longer one. Over HTTP/1.1, every byte between two requests belongs
//! to a header. Over HTTP/2, clients also send frames that belong to no request, such as acknowledgements and `PING`: a connection with
//! complete frames of this kind is idle.

/// The first bytes of a client over HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The length of a frame's header.
const HEADER: usize = 9;
/// The types of frames that contain a part of a request's header, and the flag of the last one.
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// Parses the frames of a connection as they arrive.
#[derive(Debug, Default)]
pub(super) struct Frames {
    protocol: Protocol,
}

#[derive(Debug)]
enum Protocol {
    /// This many bytes of the preface arrived, and nothing else.
    Unknown(usize),
    Http1,
    Http2(Frame),
}

impl Default for Protocol {
    fn default() -> Self {
        Self::Unknown(0)
    }
}

/// A frame in arrival.
#[derive(Debug, Default)]
struct Frame {
    header: [u8; HEADER],
    /// The received bytes of the header.
    known: usize,
    /// The missing bytes of the payload.
    left: usize,
    /// Whether more frames with parts of the same request's header follow.
    is_in_block: bool,
}

impl Frames {
    /// Whether the client speaks HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        matches!(self.protocol, Protocol::Http2(_))
    }

    /// Parses bytes. Returns whether they end in the middle of a header or frame.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        let mut bytes = bytes.iter();
        loop {
            match &mut self.protocol {
                Protocol::Http1 => return true,
                Protocol::Unknown(known) => {
                    let Some(byte) = bytes.next() else {
                        return true;
                    };
                    if PREFACE.get(*known) != Some(byte) {
                        self.protocol = Protocol::Http1;
                    } else if *known + 1 == PREFACE.len() {
                        self.protocol = Protocol::Http2(Frame::default());
                    } else {
                        *known += 1;
                    }
                }
                Protocol::Http2(frame) => return frame.take(bytes.as_slice()),
            }
        }
    }
}

impl Frame {
    fn take(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let payload = self.left.min(bytes.len());
                self.left -= payload;
                bytes = bytes.get(payload..).unwrap_or_default();
                continue;
            }
            if let Some(byte) = self.header.get_mut(self.known) {
                *byte = *first;
            }
            self.known += 1;
            bytes = rest;
            if self.known == HEADER {
                self.known = 0;
                let [high, middle, low, kind, flags, ..] = self.header;
                self.left = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
                if matches!(kind, HEADERS | CONTINUATION) {
                    self.is_in_block = flags & END_HEADERS == 0;
                }
            }
        }
        self.known > 0 || self.left > 0 || self.is_in_block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

    fn frame(kind: u8, flags: u8) -> [u8; 11] {
        [0, 0, 2, kind, flags, 0, 0, 0, 1, 0x82, 0x84]
    }

    #[test]
    fn whole_frames_leave_a_connection_idle() {
        let whole = [PREFACE, &SETTINGS, &PING].concat();
        let with = |more: &[u8]| [&whole, more].concat();
        for (sent, is_partial) in [
            (whole.clone(), false),
            (b"GET / HTTP/1.1\r\n".to_vec(), true),
            (b"P".to_vec(), true),
            (b"POST /".to_vec(), true),
            (PREFACE[..20].to_vec(), true),
            (PREFACE.to_vec(), false),
            (with(&PING[..1]), true),
            (with(&PING[..9]), true),
            (with(&PING[..16]), true),
            (with(&frame(HEADERS, END_HEADERS)), false),
            (with(&frame(HEADERS, 0)), true),
            (
                with(&[frame(HEADERS, 0), frame(CONTINUATION, 0)].concat()),
                true,
            ),
            (
                with(&[frame(HEADERS, 0), frame(CONTINUATION, END_HEADERS)].concat()),
                false,
            ),
            (with(&[&frame(HEADERS, 0)[..], &PING].concat()), true),
        ] {
            assert_eq!(Frames::default().take(&sent), is_partial, "{sent:?}");
            // The same bytes, one at a time.
            let mut frames = Frames::default();
            let last = sent.chunks(1).map(|byte| frames.take(byte)).last();
            assert_eq!(last, Some(is_partial), "{sent:?}");
        }
    }
}
