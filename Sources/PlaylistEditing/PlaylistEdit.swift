public import MediaTiming

/// An edit of a playlist, with the name used on the command line and in the server's URLs.
public enum PlaylistEdit: Sendable, Hashable {
    /// Removes the variants whose `BANDWIDTH` is outside a range.
    case bandwidth(PartialRange<BitRate>)
    /// Removes the variants whose video height in pixels exceeds a maximum; variants without a resolution remain.
    case maxHeight(Int)
    /// Removes the I-frame variants.
    case noIFrames
    /// Removes the segments before the one that contains a time.
    case start(MediaTime)
    /// Removes segments at the end, so that the total duration does not exceed a maximum.
    case duration(MediaTime)
    /// Appends another playlist, with a discontinuity at the transition.
    case append(String)
    /// Prepends another playlist, with a discontinuity at the transition.
    case prepend(String)
    /// Inserts another playlist at the segment boundary nearest to a time.
    case insert(String, at: MediaTime)
    /// Removes the segments that are entirely inside a time range.
    case dropRange(MediaTimeRange)
    /// Makes every URI absolute.
    case absolute
    /// Converts the playlist to its canonical form.
    case canonical

    /// The names of all edits.
    public static let names = [
        "bandwidth", "max-height", "no-i-frames", "start", "duration", "append", "prepend", "insert", "drop-range",
        "absolute", "canonical",
    ]

    /// Creates an edit from its name and value.
    ///
    /// - Parameters:
    ///   - name: One of ``names``.
    ///   - value: The value of the edit; ignored for edits without a value.
    /// - Throws: ``PlaylistEditError``, whose message contains the expected form.
    public init(name: String, value: String) throws(PlaylistEditError) {
        func invalid(_ expected: String) -> PlaylistEditError {
            .invalidValue(edit: name, value: value, expected: expected)
        }
        switch name {
        case "bandwidth":
            guard let range = PartialRange<BitRate>(value) else {
                throw invalid("LOW...HIGH in bit/s, such as 900k...4M")
            }
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
                throw invalid("a duration greater than zero, such as 30 or 00:01:30")
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
            guard let range = PartialRange<MediaTime>(value, bound: { ClockTime.parse($0) }) else {
                throw invalid("START...END in seconds")
            }
            // A range without an end extends beyond the end of any playlist.
            let end = range.high ?? MediaTime(seconds: 1 << 40)
            self = .dropRange(MediaTimeRange(start: range.low ?? .zero, end: end))
        case "absolute": self = .absolute
        case "canonical": self = .canonical
        default: throw .unknownEdit(name)
        }
    }

    private static func source(_ value: String, _ name: String) throws(PlaylistEditError) -> String {
        guard !value.isEmpty else {
            throw .invalidValue(edit: name, value: value, expected: "the URL of a playlist")
        }
        return value
    }

    /// The name and value that ``init(name:value:)`` parses.
    public var nameAndValue: (name: String, value: String) {
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

    /// A Boolean value that indicates whether the edit filters the variants instead of changing media playlists.
    public var isFilter: Bool {
        switch self {
        case .bandwidth, .maxHeight, .noIFrames: true
        default: false
        }
    }

    /// The name of the other playlist that the edit needs, or `nil` if it needs none.
    public var source: String? {
        switch self {
        case .append(let source), .prepend(let source), .insert(let source, _): source
        default: nil
        }
    }

    /// Returns the same edit with another source.
    func replacingSource(_ source: String) -> PlaylistEdit {
        switch self {
        case .append: .append(source)
        case .prepend: .prepend(source)
        case .insert(_, let time): .insert(source, at: time)
        default: self
        }
    }
}
