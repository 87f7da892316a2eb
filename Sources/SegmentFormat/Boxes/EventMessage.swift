public import MediaTiming

/// An event message box, `emsg` (ISO/IEC 23009-1 §5.10.3.3).
public struct EventMessage: Sendable, Hashable {
    /// When an event takes place.
    public enum Time: Sendable, Hashable {
        /// So long after the earliest presentation time of the segment (version 0).
        case afterSegmentStart(MediaTime)
        /// At this time of the media timeline (version 1).
        case presentation(MediaTime)
    }

    /// What the message is written in, such as `urn:scte:scte35:2013:bin` or `https://aomedia.org/emsg/ID3`.
    public let schemeIdentifier: String
    /// What the scheme takes it for.
    public let value: String
    /// When it takes place.
    public let time: Time
    /// How long it lasts; `nil` where that is not known.
    public let duration: MediaTime?
    /// What equal messages have in common; a repeated message is told by it, the scheme and the value.
    public let id: UInt32
    /// The message itself, a copy.
    public let message: [UInt8]

    /// Reads the box at a place.
    ///
    /// Throws ``MediaFormatError`` where no whole `emsg` of version 0 or 1 stands there.
    public init(_ bytes: Span<UInt8>, at offset: Int = 0) throws(MediaFormatError) {
        var walker = BoxWalker(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .emsg else { throw .missing("emsg") }
        guard !box.isCut else { throw .truncated("emsg") }
        var (version, _, cursor) = box.fields(bytes)
        var scheme = ""
        var value = ""
        if version == 0 {
            scheme = cursor.terminatedText(bytes)
            value = cursor.terminatedText(bytes)
        }
        guard version < 2 else { throw .malformed("version of emsg") }
        let timescale = cursor.uint32(bytes)
        let start = cursor.unsigned(version == 0 ? 4 : 8, bytes)
        let length = cursor.uint32(bytes)
        id = cursor.uint32(bytes)
        if version == 1 {
            scheme = cursor.terminatedText(bytes)
            value = cursor.terminatedText(bytes)
        }
        guard !cursor.isPastEnd else { throw .truncated("emsg") }
        guard timescale > 0 else { throw .malformed("timescale of emsg") }
        schemeIdentifier = scheme
        self.value = value
        let time = MediaTime.units(start, per: timescale)
        self.time = version == 0 ? .afterSegmentStart(time) : .presentation(time)
        duration = length == .max ? nil : .units(UInt64(length), per: timescale)
        message = bytes.array(cursor.offset..<cursor.end)
    }
}
