//! Drives a browser by its debugging protocol, over a pipe: documents of JSON, each with a zero byte after it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{ALWAYS, Browser, PATIENCE};

/// A page in a browser.
pub struct Devtools {
    child: Child,
    stream: UnixStream,
    received: Vec<u8>,
    /// Events that nobody has waited for yet.
    events: Vec<Value>,
    /// What the pages have logged since the last visit, and the scripts that the browser refused.
    console: Vec<Value>,
    last: u64,
    session: Option<String>,
}

impl Browser<'_> {
    /// Opens an empty page.
    pub fn open(&self) -> Devtools {
        let (stream, end) = UnixStream::pair().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let ends = [end.try_clone().unwrap(), end].map(|end| Stdio::from(OwnedFd::from(end)));
        let [input, output] = ends;
        let profile = format!("--user-data-dir={}", self.scene.path("tools").display());
        let mut command = self.scene.command("sh");
        command
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(&self.program)
            .args(ALWAYS)
            .args([&profile, "--remote-debugging-pipe"])
            .stdin(input)
            .stdout(output)
            .stderr(Stdio::null());
        let mut tools = Devtools {
            child: command.spawn().unwrap(),
            stream,
            received: Vec::new(),
            events: Vec::new(),
            console: Vec::new(),
            last: 0,
            session: None,
        };
        let target = tools.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = tools.call("Target.attachToTarget", &attach);
        tools.session = session["sessionId"].as_str().map(str::to_owned);
        for events in ["Page.enable", "Runtime.enable", "Log.enable"] {
            tools.call(events, &json!({}));
        }
        tools
    }
}

impl Devtools {
    fn message(&mut self) -> Value {
        loop {
            if let Some(end) = self.received.iter().position(|byte| *byte == 0) {
                let message: Vec<u8> = self.received.drain(..=end).collect();
                return serde_json::from_slice(&message[..end]).unwrap();
            }
            let mut piece = [0; 64 << 10];
            match self.stream.read(&mut piece) {
                Ok(0) => panic!("the browser has ended"),
                Ok(length) => self.received.extend(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("the browser is silent: {error}"),
            }
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.stream.write_all(&bytes).unwrap();
        self.last
    }

    /// Calls a method and returns its result.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.message();
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.keep(message);
        }
    }

    fn keep(&mut self, event: Value) {
        match event["method"].as_str() {
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.console.push(event);
            }
            _ => self.events.push(event),
        }
    }

    /// Opens a URL and waits until the page is loaded.
    pub fn visit(&mut self, url: &str) {
        self.events.clear();
        self.console.clear();
        self.call("Page.navigate", &json!({ "url": url }));
        self.until_loaded();
    }

    /// Waits until a page is loaded.
    pub fn until_loaded(&mut self) {
        let is_loaded = |event: &Value| event["method"] == json!("Page.loadEventFired");
        while !self.events.iter().any(is_loaded) {
            let event = self.message();
            self.keep(event);
        }
        self.events.clear();
    }

    /// What the page has logged since it was visited.
    pub fn console(&self) -> &[Value] {
        &self.console
    }

    /// The document as it is now.
    pub fn dom(&mut self) -> String {
        let dom = self.evaluate("document.documentElement.outerHTML");
        dom.as_str().unwrap().to_owned()
    }

    /// Gives the window this width, in pixels.
    pub fn resize(&mut self, width: usize) {
        let window =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &window);
    }

    /// The value of an expression in the page. The page's own rules do not stop it.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let result = self.call("Runtime.evaluate", &params);
        assert!(result["exceptionDetails"].is_null(), "{result}");
        result["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, code: u32, text: Option<&str>) {
        for kind in ["keyDown", "keyUp"] {
            let mut event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if let Some(text) = text.filter(|_| kind == "keyDown") {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Whether users prefer dark colours.
    pub fn prefer_dark(&mut self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let feature = json!({ "name": "prefers-color-scheme", "value": value });
        let features = json!({ "features": [feature] });
        self.call("Emulation.setEmulatedMedia", &features);
    }
}

impl Drop for Devtools {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}
