//! The header of an AIX trace. The trace stores it for reports and exports.

use tracewell_wire::aix::{FileHeader, Texts};

use crate::model::Trace;
use crate::text::shown;

/// The header of the first file of a trace. Bytes of strings that are not valid UTF-8 are escaped.
#[derive(Clone, Debug)]
pub struct Header {
    /// The header without its strings. [`Header::file_header`] fills them in.
    pub numbers: FileHeader<'static>,
    /// Name and release of the operating system.
    pub system: String,
    /// Node name of the machine.
    pub node: String,
    /// Id of the machine.
    pub machine: String,
    /// Internet address of the machine.
    pub address: String,
    /// Command that started the trace.
    pub command: String,
    /// Description of the buffering.
    pub buffering: String,
}

impl Header {
    /// Returns a header whose strings are safe to print.
    pub(super) fn new(header: &FileHeader<'_>) -> Self {
        let text = |bytes: &[u8]| shown(bytes).into_owned();
        let Texts { system, node, machine, address, command, buffering } = header.texts;
        Self {
            numbers: FileHeader { texts: Texts::default(), ..*header },
            system: text(system),
            node: text(node),
            machine: text(machine),
            address: text(address),
            command: text(command),
            buffering: text(buffering),
        }
    }

    /// Returns the header of a trace. Returns `None` if the trace is not from AIX or its header has
    /// not been read.
    pub fn of(trace: &Trace) -> Option<&Self> {
        trace.dialect.as_ref()?.downcast_ref()
    }

    /// Returns the header in the form that [`FileHeader::write`] needs.
    pub fn file_header(&self) -> FileHeader<'_> {
        let texts = Texts {
            system: self.system.as_bytes(),
            node: self.node.as_bytes(),
            machine: self.machine.as_bytes(),
            address: self.address.as_bytes(),
            command: self.command.as_bytes(),
            buffering: self.buffering.as_bytes(),
        };
        FileHeader { texts, ..self.numbers }
    }
}
