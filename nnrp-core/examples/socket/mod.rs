//! All that a driver has to do, with blocking sockets and nothing but std: bytes out, bytes in, the clock.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, process};

use nnrp_core::state::Time;
use nnrp_core::state::connection::Connection;

/// Where programs meet if nobody says otherwise.
pub const ADDRESS: &str = "127.0.0.1:7410";

/// What stands behind the name of the program: an address, and then whatever else.
///
/// Ends the program where it is asked how it is used (exit status 0), or where nobody could make anything of it (2).
pub fn arguments(usage: &str) -> (String, Vec<String>) {
    let wrong = |what: String| -> ! {
        eprintln!("error: {what}\n\n{usage}");
        process::exit(2);
    };
    let mut list = Vec::new();
    for argument in env::args_os().skip(1) {
        match argument.into_string() {
            Ok(argument) if argument == "--help" || argument == "-h" => {
                println!("{usage}");
                process::exit(0);
            }
            Ok(argument) => list.push(argument),
            Err(argument) => wrong(format!("`{}` is no text", argument.display())),
        }
    }
    if list.is_empty() {
        return (ADDRESS.into(), list);
    }
    let address = list.remove(0);
    if address.starts_with('-') {
        wrong(format!("there is no option `{address}`"));
    }
    if let Err(why) = check_address(&address) {
        wrong(format!("`{address}` is no address: {why}"));
    }
    (address, list)
}

fn check_address(address: &str) -> Result<(), &'static str> {
    if let Some(path) = address.strip_prefix("unix:") {
        return match path {
            _ if !cfg!(unix) => Err("this system has no such sockets"),
            "" => Err("no path behind `unix:`"),
            _ => Ok(()),
        };
    }
    match address.rsplit_once(':') {
        None => Err("no port, as in `127.0.0.1:7410`"),
        Some(("", _)) => Err("no host in front of the port"),
        Some((_, port)) if port.parse::<u16>().is_err() => Err("the port is no number up to 65535"),
        Some(_) => Ok(()),
    }
}

/// The longest sleep.
const NAP_MS: u64 = 1_000;
/// How long a write may wait for a peer that does not read. Then it is its turn to be read from: if both ends only
/// wrote, both would wait for ever.
const WRITE: Duration = Duration::from_millis(10);

/// The time on the one clock of this process. Connections that share a shelf share their clock, too.
pub fn now() -> Time {
    static START: OnceLock<Instant> = OnceLock::new();
    Time(START.get_or_init(Instant::now).elapsed().as_millis() as u64)
}

/// Session ids and resume tokens come from here. Who can guess a token can take a session over.
pub fn random() -> u64 {
    getrandom::u64().expect("the system gives random numbers")
}

/// What the driver needs of a socket.
trait Stream: Read + Write + Send {
    fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(read))?;
        self.set_write_timeout(Some(write))
    }
}

#[cfg(unix)]
impl Stream for UnixStream {
    fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(read))?;
        self.set_write_timeout(Some(write))
    }
}

/// A socket, and what came over it that the connection has not taken yet.
pub struct Line {
    stream: Box<dyn Stream>,
    unread: Vec<u8>,
}

impl Line {
    /// To a server at `host:port` or `unix:path`.
    pub fn connect(address: &str) -> io::Result<Self> {
        #[cfg(unix)]
        if let Some(path) = address.strip_prefix("unix:") {
            return Ok(Self::new(UnixStream::connect(path)?));
        }
        Self::tcp(TcpStream::connect(address)?)
    }

    fn tcp(stream: TcpStream) -> io::Result<Self> {
        // A word is worth a packet of its own.
        stream.set_nodelay(true)?;
        Ok(Self::new(stream))
    }

    fn new(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), unread: Vec::new() }
    }

    /// One turn: sends what waits, sleeps until something comes or is due, and has the connection handle it. An error
    /// says that the transport is gone. After a turn, poll the events.
    pub fn turn(&mut self, connection: &mut Connection, until: Option<Time>) -> io::Result<()> {
        let due = connection.poll_timeout().into_iter().chain(until).min();
        let nap = due.map_or(NAP_MS, |due| due.since(now())).clamp(1, NAP_MS);
        self.stream.set_timeouts(Duration::from_millis(nap), WRITE)?;
        self.write(connection)?;
        // While the connection is full, the rest stays where it is, and the peer has to wait.
        if self.unread.is_empty() {
            self.read()?;
        }
        let taken = connection.handle_bytes(&self.unread, now());
        self.unread.drain(..taken);
        connection.handle_timeout(now());
        Ok(())
    }

    /// Sends the last words of a connection that is over.
    pub fn finish(&mut self, connection: &mut Connection) -> io::Result<()> {
        let end = now().after(NAP_MS);
        while !connection.poll_output().is_empty() && now() < end {
            self.write(connection)?;
        }
        Ok(())
    }

    fn write(&mut self, connection: &mut Connection) -> io::Result<()> {
        while !connection.poll_output().is_empty() {
            match self.stream.write(connection.poll_output()) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(sent) => connection.consume_output(sent),
                Err(error) if is_pause(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(came) => self.unread.extend_from_slice(&buffer[..came]),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Nothing happened in the time that was given.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Where clients come in.
pub enum Listener {
    /// By TCP.
    Tcp(TcpListener),
    /// By a Unix socket, at that path.
    #[cfg(unix)]
    Unix(UnixListener, String),
}

impl Listener {
    /// At `host:port` or `unix:path`; port 0 takes a free one.
    pub fn bind(address: &str) -> io::Result<Self> {
        #[cfg(unix)]
        if let Some(path) = address.strip_prefix("unix:") {
            use std::os::unix::fs::FileTypeExt;
            // The socket of a server that is gone is in the way.
            let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
            if is_socket && UnixStream::connect(path).is_err() {
                std::fs::remove_file(path)?;
            }
            return Ok(Self::Unix(UnixListener::bind(path)?, path.into()));
        }
        Ok(Self::Tcp(TcpListener::bind(address)?))
    }

    /// The address that clients connect to.
    pub fn address(&self) -> io::Result<String> {
        match self {
            Self::Tcp(listener) => Ok(listener.local_addr()?.to_string()),
            #[cfg(unix)]
            Self::Unix(_, path) => Ok(format!("unix:{path}")),
        }
    }

    /// The next client.
    pub fn accept(&self) -> io::Result<Line> {
        match self {
            Self::Tcp(listener) => Line::tcp(listener.accept()?.0),
            #[cfg(unix)]
            Self::Unix(listener, _) => Ok(Line::new(listener.accept()?.0)),
        }
    }
}
