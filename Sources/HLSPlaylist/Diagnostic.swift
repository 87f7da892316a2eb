import MediaTiming

/// What is wrong or remarkable in a playlist, and where.
public struct Diagnostic: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable {
        /// It breaks a MUST; some players refuse it.
        case error
        /// It breaks a SHOULD, or a player has to guess.
        case warning
        /// Worth knowing.
        case note
    }

    /// The line it is about, from 1; `nil` where it is about the whole playlist.
    public let line: Int?
    /// How bad it is.
    public let severity: Severity
    /// A stable short spelling.
    public let code: String
    /// What is wrong, for people.
    public let message: String
    /// The section of RFC 8216bis that says so.
    public let section: String
}

extension Playlist {
    /// What is wrong in the playlist, in the order of its lines.
    ///
    /// - Complexity: O(*n*) in bytes; the playlist is read once more.
    public var diagnostics: [Diagnostic] {
        var inspection = LineInspection(bytes, kind: kind)
        inspection.inspect()
        return inspection.diagnostics
    }
}

/// Reads a playlist line by line as the standard wants it, and notes what departs from it.
private struct LineInspection {
    private let bytes: [UInt8]
    private let kind: Playlist.Kind
    private(set) var diagnostics: [Diagnostic] = []

    /// A playlist with more mistakes than this is no help to anybody; the list must not exhaust memory.
    private static let mostDiagnostics = 10_000

    private var lineNumber = 0
    private var seen: [TagName: Int] = [:]
    private var pendingSegment: Int?
    private var pendingVariant: Int?
    private var longest: (duration: DecimalDigits, line: Int)?

    init(_ bytes: [UInt8], kind: Playlist.Kind) {
        self.bytes = bytes
        self.kind = kind
    }

    mutating func inspect() {
        var start = 0
        if bytes.starts(with: "\u{FEFF}".utf8) {
            start = 3
            note(.error, "byte-order-mark", "the playlist begins with a byte-order mark", "4.1", line: 1)
        }
        if String(validating: bytes, as: UTF8.self) == nil {
            note(.error, "not-utf-8", "the playlist is not valid UTF-8", "4.1", line: nil)
        }
        var scanner = LineScanner(start..<bytes.count)
        while let line = scanner.next(in: bytes.span) {
            lineNumber += 1
            inspect(line)
        }
        finish()
    }

    private mutating func note(
        _ severity: Diagnostic.Severity,
        _ code: String,
        _ message: String,
        _ section: String,
        line: Int? = -1
    ) {
        guard diagnostics.count < Self.mostDiagnostics else { return }
        diagnostics.append(
            Diagnostic(
                line: line == -1 ? lineNumber : line,
                severity: severity,
                code: code,
                message: message,
                section: section
            )
        )
    }

    private mutating func inspect(_ line: Line) {
        let text = line.trimmed(in: bytes.span)
        if lineNumber == 1, bytes.text(text) != "#EXTM3U" {
            note(.error, "header-not-first", "the first line is not #EXTM3U", "4.4.1.1")
        }
        guard !text.isEmpty else { return }
        if text.upperBound < line.contentEnd {
            note(.note, "trailing-space", "white space stands at the end of the line", "4.1")
        }
        guard bytes[text.lowerBound] == UInt8(ascii: "#") else {
            inspectAddress()
            return
        }
        guard let tagLine = TagLine(line, in: bytes) else { return }
        guard let tag = tagLine.tag(in: bytes) else {
            note(.note, "unknown-tag", "the tag \(bytes.text(tagLine.name)) is not in the standard", "4.1")
            return
        }
        inspect(tag, value: tagLine.value)
    }

    private mutating func inspectAddress() {
        if kind == .media {
            if pendingSegment == nil {
                note(
                    .error,
                    "address-without-extinf",
                    "no EXTINF stands before this address; players ignore it",
                    "4.4.4.1"
                )
            }
            pendingSegment = nil
        } else {
            if pendingVariant == nil {
                note(.error, "address-without-stream-inf", "no EXT-X-STREAM-INF stands before this address", "4.4.6.2")
            }
            pendingVariant = nil
        }
        if seen[.endList] != nil {
            note(.warning, "after-endlist", "an address stands behind EXT-X-ENDLIST", "4.4.3.4")
        }
    }

    private mutating func inspect(_ tag: TagName, value: Range<Int>?) {
        let isForeign = kind == .media ? tag.scope == .multivariant : ![.any, .multivariant].contains(tag.scope)
        if isForeign {
            note(.error, "mixed-kinds", "\(tag.rawValue) does not belong in a \(kind.rawValue) playlist", "4.1")
        }
        if Self.singleTags.contains(tag), let first = seen[tag] {
            note(.error, "repeated-tag", "\(tag.rawValue) stands a second time, first in line \(first)", "4.4")
        }
        if seen[tag] == nil { seen[tag] = lineNumber }
        switch tag {
        case .segmentInformation: inspectSegmentInformation(value)
        case .variant, .iFrameVariant: inspectVariant(tag, AttributeList(bytes, in: value))
        case .version, .targetDuration, .mediaSequence, .discontinuitySequence:
            let text = value.map { bytes.text($0) } ?? ""
            if UInt64(text) == nil {
                note(.error, "not-an-integer", "\(tag.rawValue) wants a decimal integer, not \"\(text)\"", "4.2")
            }
        case .byteRange:
            if value.flatMap({ WrittenByteRange(bytes, in: $0) }) == nil {
                note(.error, "bad-byte-range", "EXT-X-BYTERANGE wants LENGTH[@OFFSET]", "4.4.4.2")
            }
        case .programDateTime:
            if value.flatMap({ ProgramDateTime(bytes.text($0)) }) == nil {
                note(.error, "bad-date", "the date cannot be read as ISO 8601", "4.4.4.6")
            }
        default: break
        }
    }

    private mutating func inspectSegmentInformation(_ value: Range<Int>?) {
        if let line = pendingSegment {
            note(.error, "extinf-without-address", "the EXTINF in line \(line) has no address", "4.4.4.1", line: line)
        }
        pendingSegment = lineNumber
        let range = value ?? 0..<0
        if !bytes[range].contains(UInt8(ascii: ",")) {
            note(.warning, "extinf-without-comma", "no comma stands behind the duration", "4.4.4.1")
        }
        guard let duration = SegmentInformation.duration(bytes, in: range), duration.value >= 0 else {
            note(.error, "bad-duration", "the duration is not a decimal number of seconds", "4.4.4.1")
            return
        }
        if duration.seconds > (longest?.duration.seconds ?? -1) { longest = (duration, lineNumber) }
    }

    private mutating func inspectVariant(_ tag: TagName, _ attributes: AttributeList) {
        if tag == .variant {
            if let line = pendingVariant {
                note(
                    .error,
                    "stream-inf-without-address",
                    "the EXT-X-STREAM-INF in line \(line) has no address",
                    "4.4.6.2",
                    line: line
                )
            }
            pendingVariant = lineNumber
        } else if attributes["URI"] == nil {
            note(.error, "missing-attribute", "\(tag.rawValue) needs URI", "4.4.6.3")
        }
        if attributes["BANDWIDTH"] == nil {
            note(.error, "missing-attribute", "\(tag.rawValue) needs BANDWIDTH", "4.4.6.2")
        } else if attributes.integer("BANDWIDTH") == nil {
            note(.error, "not-an-integer", "BANDWIDTH wants a decimal integer", "4.2")
        }
    }

    private mutating func finish() {
        if let line = pendingSegment {
            note(.error, "extinf-without-address", "the EXTINF in line \(line) has no address", "4.4.4.1", line: line)
        }
        if let line = pendingVariant {
            note(
                .error,
                "stream-inf-without-address",
                "the EXT-X-STREAM-INF in line \(line) has no address",
                "4.4.6.2",
                line: line
            )
        }
        guard kind == .media else { return }
        let playlist = try? MediaPlaylist(parsing: bytes)
        for offset in playlist?.index.impliedOffsets ?? [] where offset.isGuessed {
            note(
                .error,
                "byte-range-without-offset",
                "segment \(offset.segment) has a byte range without an offset that follows no other of its resource",
                "4.4.4.2",
                line: nil
            )
        }
        if seen[.targetDuration] == nil {
            note(.error, "missing-target-duration", "EXT-X-TARGETDURATION is missing", "4.4.3.1", line: nil)
        } else if let target = playlist?.targetDuration, let longest,
            longest.duration.seconds.rounded() > target.seconds
        {
            note(
                .error,
                "longer-than-target",
                "a segment is longer than the target duration",
                "4.4.3.1",
                line: longest.line
            )
        }
    }

    /// Tags that may stand once (§4.4.1.2, §4.4.2, §4.4.3).
    private static let singleTags: Set<TagName> = [
        .header, .version, .independentSegments, .start, .targetDuration, .mediaSequence, .discontinuitySequence,
        .endList, .playlistType, .iFramesOnly, .partInformation, .serverControl,
    ]
}

extension DecimalDigits {
    /// The number as the nearest floating-point number.
    fileprivate var seconds: Double { Double(value) / Double(DecimalDigits.power(of: fractionDigits)) }
}
