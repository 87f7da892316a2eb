package import MediaTiming

/// An event message box, `emsg` (ISO/IEC 23009-1 §5.10.3.3).
package struct EventMessage: Sendable, Hashable {
    /// The start time of an event.
    package enum Time: Sendable, Hashable {
        /// The time relative to the earliest presentation time of the segment (version 0).
        case afterSegmentStart(MediaTime)
        /// The time on the media timeline (version 1).
        case presentation(MediaTime)
    }

    /// The URI of the message scheme, such as `urn:scte:scte35:2013:bin` or `https://aomedia.org/emsg/ID3`.
    package let schemeIdentifier: String
    /// The value, whose meaning the scheme defines.
    package let value: String
    /// The start time of the event.
    package let time: Time
    /// The duration of the event; `nil` if it is unknown.
    package let duration: MediaTime?
    /// The event ID; messages with the same scheme, value and ID are repetitions of one event.
    package let id: UInt32
    /// A copy of the message data.
    package let message: [UInt8]

    /// Creates an event message from the `emsg` box at `offset`.
    ///
    /// Throws ``MediaFormatError`` if there is no complete `emsg` box of version 0 or 1 with a valid timescale at the
    /// offset.
    package init(_ bytes: Span<UInt8>, at offset: Int = 0) throws(MediaFormatError) {
        var walker = BoxIterator(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .emsg else { throw .missing("emsg") }
        guard !box.isTruncated else { throw .truncated("emsg") }
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        var scheme = ""
        var value = ""
        if version == 0 {
            scheme = cursor.readTerminatedString(bytes)
            value = cursor.readTerminatedString(bytes)
        }
        guard version < 2 else { throw .malformed("version of emsg") }
        let timescale = cursor.readUInt32(bytes)
        let start = cursor.readUnsigned(version == 0 ? 4 : 8, bytes)
        let length = cursor.readUInt32(bytes)
        id = cursor.readUInt32(bytes)
        if version == 1 {
            scheme = cursor.readTerminatedString(bytes)
            value = cursor.readTerminatedString(bytes)
        }
        guard !cursor.isPastEnd else { throw .truncated("emsg") }
        guard timescale > 0 else { throw .malformed("timescale of emsg") }
        schemeIdentifier = scheme
        self.value = value
        let time = MediaTime.units(start, per: timescale)
        self.time = version == 0 ? .afterSegmentStart(time) : .presentation(time)
        duration = length == .max ? nil : .units(UInt64(length), per: timescale)
        message = bytes.byteArray(in: cursor.offset..<cursor.end)
    }
}
