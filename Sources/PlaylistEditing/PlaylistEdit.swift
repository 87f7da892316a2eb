public import MediaTiming

/// One edit of a playlist, named as on the command line and in the addresses of the server.
public enum PlaylistEdit: Sendable, Hashable {
    /// Keep the variants whose `BANDWIDTH` lies in a range.
    case bandwidth(OpenRange<BitRate>)
    /// Keep the variants whose picture is at most this high; those without a picture stay.
    case maxHeight(Int)
    /// Take the I-frame variants out.
    case noIFrames
    /// Keep whole segments from the one that holds a time.
    case start(MediaTime)
    /// Keep whole segments, together never longer than this.
    case duration(MediaTime)
    /// Put another playlist behind, with a discontinuity at the seam.
    case append(String)
    /// Put another playlist before, with a discontinuity at the seam.
    case prepend(String)
    /// Put another playlist in at the segment border nearest to a time.
    case insert(String, at: MediaTime)
    /// Cut out the whole segments that lie in a range of time.
    case dropRange(MediaTimeRange)
    /// Write every address as an absolute one.
    case absolute
    /// Write the playlist in its canonical spelling.
    case canonical

    /// Every name that an edit can have.
    public static let names = [
        "bandwidth", "max-height", "no-i-frames", "start", "duration", "append", "prepend", "insert", "drop-range",
        "absolute", "canonical",
    ]

    /// Reads an edit.
    ///
    /// - Parameters:
    ///   - name: One of ``names``.
    ///   - value: What follows it; empty for edits without a value.
    /// - Throws: ``PlaylistEditError`` that says what was expected.
    public init(name: String, value: String) throws(PlaylistEditError) {
        func invalid(_ expected: String) -> PlaylistEditError {
            .invalidValue(edit: name, value: value, expected: expected)
        }
        switch name {
        case "bandwidth":
            guard let range = OpenRange<BitRate>(value) else { throw invalid("LOW...HIGH in bit/s, such as 900k...4M") }
            self = .bandwidth(range)
        case "max-height":
            guard let height = UInt16(value), height > 0 else { throw invalid("a height in pixels") }
            self = .maxHeight(Int(height))
        case "no-i-frames": self = .noIFrames
        case "start":
            guard let time = ClockTime.parse(value) else { throw invalid("a time, such as 12.5 or 00:01:30") }
            self = .start(time)
        case "duration":
            guard let time = ClockTime.parse(value), time > .zero else {
                throw invalid("a duration over zero, such as 30 or 00:01:30")
            }
            self = .duration(time)
        case "append": self = .append(try Self.source(value, name))
        case "prepend": self = .prepend(try Self.source(value, name))
        case "insert":
            guard let at = value.lastIndex(of: "@"), at > value.startIndex,
                let time = ClockTime.parse(value[value.index(after: at)...])
            else { throw invalid("SOURCE@TIME") }
            self = .insert(String(value[..<at]), at: time)
        case "drop-range":
            guard let range = OpenRange<MediaTime>(value, bound: { ClockTime.parse($0) }) else {
                throw invalid("START...END in seconds")
            }
            // Without an end it reaches further than any playlist.
            let end = range.high ?? MediaTime(seconds: 1 << 40)
            self = .dropRange(MediaTimeRange(start: range.low ?? .zero, end: end))
        case "absolute": self = .absolute
        case "canonical": self = .canonical
        default: throw .unknownEdit(name)
        }
    }

    private static func source(_ value: String, _ name: String) throws(PlaylistEditError) -> String {
        guard !value.isEmpty else {
            throw .invalidValue(edit: name, value: value, expected: "the address of a playlist")
        }
        return value
    }

    /// Its name and value as they are read by ``init(name:value:)``.
    public var spelling: (name: String, value: String) {
        switch self {
        case .bandwidth(let range):
            (
                "bandwidth",
                "\(range.low?.bitsPerSecond.description ?? "")...\(range.high?.bitsPerSecond.description ?? "")"
            )
        case .maxHeight(let height): ("max-height", "\(height)")
        case .noIFrames: ("no-i-frames", "")
        case .start(let time): ("start", time.description)
        case .duration(let time): ("duration", time.description)
        case .append(let source): ("append", source)
        case .prepend(let source): ("prepend", source)
        case .insert(let source, let time): ("insert", "\(source)@\(time)")
        case .dropRange(let range): ("drop-range", "\(range.start)...\(range.end)")
        case .absolute: ("absolute", "")
        case .canonical: ("canonical", "")
        }
    }

    /// Whether it is about the list of variants rather than about the media.
    public var isFilter: Bool {
        switch self {
        case .bandwidth, .maxHeight, .noIFrames: true
        default: false
        }
    }

    /// The other playlist it needs, `nil` where it needs none.
    public var source: String? {
        switch self {
        case .append(let source), .prepend(let source), .insert(let source, _): source
        default: nil
        }
    }

    /// The same edit with another source.
    func replacingSource(_ source: String) -> PlaylistEdit {
        switch self {
        case .append: .append(source)
        case .prepend: .prepend(source)
        case .insert(_, let time): .insert(source, at: time)
        default: self
        }
    }
}
