import MediaTiming
import ResourceAddressing

/// A key, prepared for validation; its attributes are parsed once, because it may apply to many segments and maps.
struct InspectedKey {
    let line: InspectedLine
    let method: String
    /// The key format; `identity` by default.
    let format: String
    /// A Boolean value that indicates whether the key is AES-128 without an initialization vector.
    let lacksInitializationVector: Bool
}

/// A segment, prepared for validation.
struct InspectedSegment {
    let line: InspectedLine
    /// The segment tags that belong to the segment.
    let tags: [InspectedLine]
    /// The duration, or `nil` if it is missing or invalid.
    let duration: MediaTime?
    /// The date of the segment's first date tag, in seconds since 1970-01-01T00:00:00Z, or `nil` if there is none or it
    /// is invalid.
    let date: MediaTime?
    /// The keys in force for the segment.
    let keys: [InspectedKey]
    /// The line of the map that applies to the segment.
    let map: InspectedLine?

    var parts: [InspectedLine] { tags.filter { $0.tag == .part } }

    func first(_ tag: TagName) -> InspectedLine? { tags.first { $0.tag == tag } }
}

/// The rules for segments and the tags that apply to them (RFC 8216bis §4.4.4).
extension PlaylistInspection {
    /// Returns the duration in an `EXTINF` tag, or `nil` if it is invalid.
    func duration(_ line: InspectedLine) -> MediaTime? {
        let bytes = bytes
        let span = bytes.span
        var range = line.value
        if let comma = span.firstIndex(of: UInt8(ascii: ","), in: range) { range = range.lowerBound..<comma }
        while range.upperBound > range.lowerBound, span[range.upperBound - 1] == UInt8(ascii: " ") {
            range = range.lowerBound..<(range.upperBound - 1)
        }
        guard Grammar.isDecimal(span, in: range) else { return nil }
        return DecimalDigits(span.extracting(range)).map { MediaTime($0) }
    }

    /// Reads the segments, and checks their tags and the order of the tags.
    func inspectSegments() {
        var collector = SegmentCollector(target: integer(.targetDuration))
        for line in lines {
            if line.tag == nil { collector.finishSegment(line, self) } else { collector.read(line, self) }
        }
        if let open = collector.information { note(.extinfWithoutAddress, open) }
        segments = collector.segments
        trailingParts = collector.pending.filter { $0.tag == .part }
        inspectKeysAndMaps()
        inspectDates()
    }

    private func inspectKeysAndMaps() {
        var checkedKeys: [Int] = []
        for segment in segments {
            // The keys of consecutive segments are usually the same and are checked once.
            if !(segment.keys.isEmpty && checkedKeys.isEmpty), segment.keys.map(\.line.number) != checkedKeys {
                checkedKeys = segment.keys.map(\.line.number)
                let methods = Set(segment.keys.map(\.method))
                if methods.count > 1, let last = segment.keys.last { note(.keyMethodsDiffer, last.line) }
            }
            guard segment.map == nil, segment.first(.gap) == nil, let address = address(segment.line) else { continue }
            let path = ResourceAddress(address).path.lowercased()
            if [".m4s", ".cmfv", ".cmfa", ".cmft"].contains(where: path.hasSuffix) {
                note(.fmp4WithoutMap, segment.line)
            }
        }
    }

    private func inspectDates() {
        let isDated = has(.programDateTime)
        var end: MediaTime?
        for segment in segments {
            let written = segment.first(.programDateTime)
            if isDated, written == nil, segment.first(.discontinuity) != nil {
                note(.discontinuityWithoutDate, segment.line)
            }
            if let written, let date = segment.date {
                if let end, date <= end - MediaTime(seconds: 1) { note(.dateTimeOverlap, written) }
                end = date
            }
            end = end.map { $0 + (segment.duration ?? .zero) }
        }
    }

    /// Checks a date.
    ///
    /// - Returns: The seconds since 1970-01-01T00:00:00Z, or `nil` if the text is not a date.
    @discardableResult
    func inspectDate(
        _ text: String,
        _ line: InspectedLine,
        bad: Rule,
        zone: Rule,
        milliseconds: Rule
    ) -> MediaTime? {
        guard let date = InspectedDate(text) else {
            note(bad, line)
            return nil
        }
        if !date.hasZone { note(zone, line) }
        if !date.hasMilliseconds { note(milliseconds, line) }
        return date.sinceEpoch
    }
}

/// A collector of the segments in the lines of a media playlist.
private struct SegmentCollector {
    let target: Int64?
    /// The duration from which on a segment exceeds the target duration.
    private let limit: MediaTime?
    private(set) var segments: [InspectedSegment] = []
    private(set) var pending: [InspectedLine] = []
    private(set) var information: InspectedLine?
    /// The duration in ``information``, or `nil` if it is missing or invalid.
    private var duration: MediaTime?
    private var date: MediaTime?
    private var keys: [InspectedKey] = []
    private var map: InspectedLine?
    private var hasDiscontinuity = false
    private var hasPart = false
    private var previousRange = PreviousRange.none

    private enum PreviousRange: Equatable {
        case none
        /// The previous segment is skipped by a delta update, so its range is unknown.
        case skipped
        case of(address: ArraySlice<UInt8>)
    }

    init(target: Int64?) {
        self.target = target
        limit = target.map { MediaTime(value: $0, timescale: 1) + MediaTime(value: 1, timescale: 2) }
    }

    mutating func finishSegment(_ line: InspectedLine, _ inspection: PlaylistInspection) {
        if information == nil { inspection.note(.addressWithoutExtinf, line) }
        let range = pending.first { $0.tag == .byteRange }
        if let range, !range.isMalformed {
            let bytes = inspection.bytes
            if !Grammar.isByteRange(bytes.span, in: range.value) {
                inspection.note(.badByteRange, range)
            } else if bytes.span.firstIndex(of: UInt8(ascii: "@"), in: range.value) == nil, previousRange != .skipped,
                previousRange != .of(address: inspection.bytes[line.text])
            {
                inspection.note(.byteRangeWithoutOffset, range)
            }
        }
        previousRange = range == nil ? .none : .of(address: inspection.bytes[line.text])
        segments.append(
            InspectedSegment(
                line: line,
                tags: pending,
                duration: duration,
                date: date,
                keys: keys,
                map: map
            )
        )
        (pending, information, duration, date, hasPart) = ([], nil, nil, nil, false)
    }

    mutating func read(_ line: InspectedLine, _ inspection: PlaylistInspection) {
        if hasPart, let tag = line.tag, [.discontinuity, .key, .map, .programDateTime].contains(tag) {
            inspection.note(.tagAfterPart, line)
        }
        if line.tag == .segmentInformation {
            readInformation(line, inspection)
        } else if line.tag == .key {
            readKey(line, inspection)
        } else if line.tag == .map {
            map = line
            if keys.contains(where: \.lacksInitializationVector) { inspection.note(.mapKeyWithoutIV, line) }
        } else if line.tag == .programDateTime, !line.isMalformed {
            let written = inspection.inspectDate(
                inspection.text(line.value),
                line,
                bad: .badDate,
                zone: .dateWithoutZone,
                milliseconds: .dateWithoutMilliseconds
            )
            // Of several dates, the first counts.
            if !pending.contains(where: { $0.tag == .programDateTime }) { date = written }
        } else if line.tag == .part {
            hasPart = true
        } else if line.tag == .discontinuity {
            hasDiscontinuity = true
        } else {
            readPlaylistWide(line, inspection)
        }
        if line.tag?.scope == .segment {
            // Most segments have three tags or fewer, so that one allocation is enough.
            if pending.isEmpty { pending.reserveCapacity(3) }
            pending.append(line)
        }
    }

    /// Checks that a tag that applies to the entire playlist precedes the segments, if it must.
    private mutating func readPlaylistWide(_ line: InspectedLine, _ inspection: PlaylistInspection) {
        if line.tag == .skip {
            previousRange = .skipped
            if !segments.isEmpty { inspection.note(.skipAfterSegment, line) }
        } else if line.tag == .mediaSequence, !segments.isEmpty {
            inspection.note(.mediaSequenceAfterSegment, line)
        } else if line.tag == .discontinuitySequence {
            if !segments.isEmpty {
                inspection.note(.discontinuitySequenceAfterSegment, line)
            } else if hasDiscontinuity {
                inspection.note(.discontinuitySequenceAfterDiscontinuity, line)
            }
        }
    }

    private mutating func readInformation(_ line: InspectedLine, _ inspection: PlaylistInspection) {
        if let open = information { inspection.note(.extinfWithoutAddress, open) }
        (information, duration) = (line, nil)
        guard !line.isMalformed else { return }
        let bytes = inspection.bytes
        if bytes.span.firstIndex(of: UInt8(ascii: ","), in: line.value) == nil {
            inspection.note(.extinfWithoutComma, line)
        }
        duration = inspection.duration(line)
        guard let duration else { return inspection.note(.badDuration, line) }
        // The rounded duration exceeds the target duration from half a second on.
        if let target, let limit, duration >= limit {
            inspection.note(.longerThanTarget, line, "(\(duration) s, target \(target) s)")
        }
    }

    private mutating func readKey(_ line: InspectedLine, _ inspection: PlaylistInspection) {
        let attributes = inspection.attributes(line)
        guard let method = attributes["METHOD"] else { return }
        guard method != "NONE" else {
            keys = []
            return
        }
        let format = attributes["KEYFORMAT"] ?? "identity"
        let key = InspectedKey(
            line: line,
            method: method,
            format: format,
            lacksInitializationVector: method == "AES-128" && !attributes.has("IV")
        )
        keys = keys.filter { $0.format != format }.suffix(15) + [key]
    }
}
